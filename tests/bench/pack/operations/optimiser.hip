// Steps of the optimiser, and the length of the gradient that they are clipped by.
#include "layers.hpp"

#define FOR(T)                                                                                                         \
    template __global__ void adam<T>(T *, const T *, float *, float *, float, float, float, int);                      \
    template __global__ void reduce<T, SquareSum, 256>(const T *, float *, int);                                       \
    template __global__ void reduce<T, Largest, 256>(const T *, float *, int);                                         \
    template __global__ void dequantise<T, 1024>(const signed char *, const float *, T *, int);                        \
    template __global__ void quantise<T, 1024>(const T *, signed char *, float *, int);
FOR(_Float16)
FOR(__bf16)
