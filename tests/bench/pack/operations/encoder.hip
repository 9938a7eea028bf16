// A block of an encoder, as one call: what it launches of the other files is in this one too.
#include "layers.hpp"

#define FOR(T)                                                                                                         \
    template __global__ void layer_norm<T, WithMean, 1024, 256>(const T *, const T *, const T *, T *, float);          \
    template __global__ void gemm<T, Plain, 64, 64, 8, 4, 4>(const T *, const T *, const T *, T *, int, int, int);     \
    template __global__ void gemm<T, Gelu, 64, 64, 8, 4, 4>(const T *, const T *, const T *, T *, int, int, int);      \
    template __global__ void attention<T, Full, 64, 16>(const T *, const T *, const T *, T *, int, int, float);
FOR(_Float16)
FOR(__bf16)
