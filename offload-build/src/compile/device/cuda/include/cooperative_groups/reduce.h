// Reductions over lanes of a warp, which all get the result:
// https://docs.nvidia.com/cuda/cuda-c-programming-guide/#reduce
#pragma once
#include <offload_names_begin.h>
#include <cooperative_groups.h>
#include <cuda/atomic>
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
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
// Results that one thread hands to memory: `store` writes, and `update` combines with what is there.
template <typename Group, typename Atomic, typename T, typename F>
static __device__ __forceinline__ void reduce_store_async(const Group &group, Atomic &to, T v, F combine) {
  T result = reduce(group, v, combine);
  if (group.thread_rank() == 0)
    to.store(result, cuda::memory_order_relaxed);
}
template <typename Atomic, typename T> static __device__ __forceinline__ T __offload_update(Atomic &to, T v, plus<T>) {
  return to.fetch_add(v, cuda::memory_order_relaxed);
}
template <typename Atomic, typename T, typename F>
static __device__ __forceinline__ T __offload_update(Atomic &to, T v, F combine) {
  T seen = to.load(cuda::memory_order_relaxed);
  while (!to.compare_exchange_weak(seen, combine(seen, v), cuda::memory_order_relaxed, cuda::memory_order_relaxed)) {
  }
  return seen;
}
template <typename Group, typename Atomic, typename T, typename F>
static __device__ __forceinline__ void reduce_update_async(const Group &group, Atomic &to, T v, F combine) {
  T result = reduce(group, v, combine);
  if (group.thread_rank() == 0)
    __offload_update(to, result, combine);
}
#endif
}
#include <offload_names_end.h>
