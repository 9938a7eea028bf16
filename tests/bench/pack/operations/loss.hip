// The product that makes logits, their softmax with its gradient, and the sum of the losses.
#include "layers.hpp"

#define FOR(T)                                                                                                         \
    template __global__ void gemm<T, Plain, 128, 64, 8, 8, 4>(const T *, const T *, const T *, T *, int, int, int);    \
    template __global__ void softmax<T, 2048, 256>(const T *, T *, float);                                             \
    template __global__ void softmax_backward<T, 2048, 256>(const T *, const T *, T *);                                \
    template __global__ void reduce<T, Sum, 256>(const T *, float *, int);                                             \
    template __global__ void reduce<T, Largest, 256>(const T *, float *, int);
FOR(_Float16)
FOR(__bf16)
