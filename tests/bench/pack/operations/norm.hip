// Normalisation of rows, and the sums that its gradients need.
#include "layers.hpp"

#define FOR(T)                                                                                                         \
    template __global__ void layer_norm<T, WithMean, 1024, 256>(const T *, const T *, const T *, T *, float);          \
    template __global__ void layer_norm<T, RootMeanSquare, 1024, 256>(const T *, const T *, const T *, T *, float);    \
    template __global__ void layer_norm<T, RootMeanSquare, 2048, 256>(const T *, const T *, const T *, T *, float);    \
    template __global__ void reduce<T, Sum, 256>(const T *, float *, int);                                             \
    template __global__ void reduce<T, SquareSum, 256>(const T *, float *, int);
FOR(_Float16)
FOR(__bf16)
