// Two products with an activation between them, fused with the first one or not.
#include "layers.hpp"

#define FOR(T)                                                                                                         \
    template __global__ void gemm<T, Plain, 64, 64, 8, 4, 4>(const T *, const T *, const T *, T *, int, int, int);     \
    template __global__ void gemm<T, Gelu, 64, 64, 8, 4, 4>(const T *, const T *, const T *, T *, int, int, int);      \
    template __global__ void gemm<T, Silu, 64, 64, 8, 4, 4>(const T *, const T *, const T *, T *, int, int, int);      \
    template __global__ void gemm<T, Plain, 128, 64, 8, 8, 4>(const T *, const T *, const T *, T *, int, int, int);    \
    template __global__ void activation<T, Relu, 4>(const T *, T *, int);                                              \
    template __global__ void activation<T, Silu, 4>(const T *, T *, int);                                              \
    template __global__ void activation<T, Gelu, 4>(const T *, T *, int);
FOR(_Float16)
FOR(__bf16)
