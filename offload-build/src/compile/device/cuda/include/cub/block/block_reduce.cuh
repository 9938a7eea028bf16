// Reductions within a block: https://nvidia.github.io/cccl/cub/api/classcub_1_1BlockReduce.html
#pragma once
#include <offload_names_begin.h>
#include <cub/thread/thread_operators.cuh>
#include <cub/util_type.cuh>
namespace cub {
enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS
};

template <typename T, int X, BlockReduceAlgorithm ALGORITHM = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1>
class BlockReduce {
  enum { THREADS = X * Y * Z, WARPS = (THREADS + 31) / 32 };

public:
  struct TempStorage {
    __offload_array<T, WARPS> of_warps;
  };
  __device__ __forceinline__ BlockReduce(TempStorage &storage) : storage(storage) {
    thread = __offload_rank<X, Y>();
  }
  __device__ __forceinline__ BlockReduce() : BlockReduce(__offload_own_storage<TempStorage>()) {}
  // The first thread has the result.
  template <typename F> __device__ __forceinline__ T Reduce(T v, F combine) { return Reduce(v, combine, THREADS); }
  template <typename F> __device__ __forceinline__ T Reduce(T v, F combine, int valid) {
    v = of_warp(v, combine, valid, thread);
    if (thread % 32 == 0)
      storage.of_warps[thread / 32] = v;
    __syncthreads();
    if (thread == 0) {
      for (int warp = 1; warp * 32 < valid && warp < WARPS; warp++)
        v = combine(v, storage.of_warps[warp]);
    }
    return v;
  }
  template <int ITEMS, typename F> __device__ __forceinline__ T Reduce(T (&items)[ITEMS], F combine) {
    T v = items[0];
#pragma unroll
    for (int i = 1; i < ITEMS; i++)
      v = combine(v, items[i]);
    return Reduce(v, combine);
  }
  __device__ __forceinline__ T Sum(T v) { return Reduce(v, cub::Sum()); }
  __device__ __forceinline__ T Sum(T v, int valid) { return Reduce(v, cub::Sum(), valid); }
  template <int ITEMS> __device__ __forceinline__ T Sum(T (&items)[ITEMS]) { return Reduce(items, cub::Sum()); }

private:
  TempStorage &storage;
  int thread;

  template <typename F> static __device__ __forceinline__ T of_warp(T v, F combine, int valid, int thread) {
    int lane = thread % 32;
    int lanes = THREADS - (thread - lane);
    unsigned int mask = lanes >= 32 ? ~0u : (1u << lanes) - 1;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      T other = __offload_from_lane(mask, v, lane + step < lanes ? lane + step : lane);
      if (lane + step < 32 && thread + step < valid)
        v = combine(v, other);
    }
    return v;
  }
};
}
#include <offload_names_end.h>
