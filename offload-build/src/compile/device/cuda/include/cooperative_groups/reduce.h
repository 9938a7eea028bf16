// Reductions over lanes of a warp, which all get the result:
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
template <typename T, typename F>
static __device__ __forceinline__ T reduce(const coalesced_group &group, T v, F combine) {
  T result = group.shfl(v, 0);
  for (unsigned int rank = 1; rank < group.num_threads(); rank++)
    result = combine(result, group.shfl(v, rank));
  return result;
}
}
#include <offload_names_end.h>
