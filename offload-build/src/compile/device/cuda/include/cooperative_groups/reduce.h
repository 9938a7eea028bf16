// Reductions over a tile, whose threads all get the result:
// https://docs.nvidia.com/cuda/cuda-c-programming-guide/#reduce
#pragma once
#include <offload_names_begin.h>
#include <cooperative_groups.h>
namespace cooperative_groups {
template <typename T> struct plus {
  __device__ __forceinline__ T operator()(T a, T b) const { return a + b; }
};
template <typename T> struct less {
  __device__ __forceinline__ T operator()(T a, T b) const { return b < a ? b : a; }
};
template <typename T> struct greater {
  __device__ __forceinline__ T operator()(T a, T b) const { return a < b ? b : a; }
};
template <typename T> struct bit_and {
  __device__ __forceinline__ T operator()(T a, T b) const { return a & b; }
};
template <typename T> struct bit_or {
  __device__ __forceinline__ T operator()(T a, T b) const { return a | b; }
};
template <typename T> struct bit_xor {
  __device__ __forceinline__ T operator()(T a, T b) const { return a ^ b; }
};
template <unsigned int SIZE, typename Parent, typename T, typename F>
static __device__ __forceinline__ T reduce(const thread_block_tile<SIZE, Parent> &tile, T v, F combine) {
#pragma unroll
  for (unsigned int step = SIZE / 2; step > 0; step /= 2)
    v = combine(v, tile.shfl_xor(v, step));
  return v;
}
}
#include <offload_names_end.h>
