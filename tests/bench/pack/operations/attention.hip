// Projections, rotation of queries and keys, and attention itself.
#include "layers.hpp"

#define FOR(T)                                                                                                         \
    template __global__ void gemm<T, Plain, 64, 64, 8, 4, 4>(const T *, const T *, const T *, T *, int, int, int);     \
    template __global__ void rotate<T, 64>(T *, const float *, int);                                                   \
    template __global__ void rotate<T, 128>(T *, const float *, int);                                                  \
    template __global__ void attention<T, Full, 64, 16>(const T *, const T *, const T *, T *, int, int, float);        \
    template __global__ void attention<T, Causal, 64, 16>(const T *, const T *, const T *, T *, int, int, float);      \
    template __global__ void attention<T, Causal, 128, 16>(const T *, const T *, const T *, T *, int, int, float);     \
    template __global__ void softmax<T, 1024, 256>(const T *, T *, float);
FOR(_Float16)
FOR(__bf16)
