// Reductions within a warp: https://nvidia.github.io/cccl/cub/api/classcub_1_1WarpReduce.html
#pragma once
#include <offload_names_begin.h>
#include <cub/thread/thread_operators.cuh>
namespace cub {
template <typename T, int THREADS = 32> class WarpReduce {
  static_assert(THREADS > 0 && THREADS <= 32 && (THREADS & (THREADS - 1)) == 0, "a power of two of lanes");

public:
  struct TempStorage {};
  __device__ __forceinline__ WarpReduce(TempStorage &) {}
  // The first lane has the result.
  template <typename F> __device__ __forceinline__ T Reduce(T v, F combine) { return Reduce(v, combine, THREADS); }
  template <typename F> __device__ __forceinline__ T Reduce(T v, F combine, int valid) {
    int lane = __offload_lane();
    int rank = lane % THREADS;
    unsigned int mask = (THREADS == 32 ? ~0u : (1u << (THREADS % 32)) - 1) << (lane - rank);
#pragma unroll
    for (int step = 1; step < THREADS; step *= 2) {
      T other = __offload_from_lane(mask, v, lane + step);
      if (rank + step < valid)
        v = combine(v, other);
    }
    return v;
  }
  __device__ __forceinline__ T Sum(T v) { return Reduce(v, cub::Sum()); }
  __device__ __forceinline__ T Sum(T v, int valid) { return Reduce(v, cub::Sum(), valid); }
};
}
#include <offload_names_end.h>
