// Weights of 8 bits: their scales, the way there and back, and the product.
#include "layers.hpp"

#define FOR(T)                                                                                                         \
    template __global__ void quantise<T, 4096>(const T *, signed char *, float *, int);                                \
    template __global__ void quantise<T, 1024>(const T *, signed char *, float *, int);                                \
    template __global__ void dequantise<T, 4096>(const signed char *, const float *, T *, int);                        \
    template __global__ void dequantise<T, 1024>(const signed char *, const float *, T *, int);                        \
    template __global__ void reduce<T, Largest, 256>(const T *, float *, int);                                         \
    template __global__ void gemm<T, Plain, 64, 64, 8, 4, 4>(const T *, const T *, const T *, T *, int, int, int);
FOR(_Float16)
FOR(__bf16)
