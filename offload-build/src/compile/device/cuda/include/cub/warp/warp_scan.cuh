// Scans within a warp: https://nvidia.github.io/cccl/cub/api/classcub_1_1WarpScan.html
#pragma once
#include <offload_names_begin.h>
#include <cub/thread/thread_operators.cuh>
namespace cub {
template <typename T, int THREADS = 32> class WarpScan {
  static_assert(THREADS > 0 && THREADS <= 32 && (THREADS & (THREADS - 1)) == 0, "a power of two of lanes");
  int lane, rank;
  unsigned int mask;

  // The value of the lane before, which the first one has not.
  __device__ __forceinline__ T before(T v) { return __offload_from_lane(mask, v, rank == 0 ? lane : lane - 1); }

public:
  struct TempStorage {};
  __device__ __forceinline__ WarpScan(TempStorage &) : lane(__offload_lane()), rank(lane % THREADS) {
    mask = (THREADS == 32 ? ~0u : (1u << (THREADS % 32)) - 1) << (lane - rank);
  }
  template <typename F> __device__ __forceinline__ void InclusiveScan(T in, T &out, F combine) {
    T v = in;
#pragma unroll
    for (int step = 1; step < THREADS; step *= 2) {
      T other = __offload_from_lane(mask, v, rank < step ? lane : lane - step);
      if (rank >= step)
        v = combine(other, v);
    }
    out = v;
  }
  template <typename F> __device__ __forceinline__ void InclusiveScan(T in, T &out, F combine, T &all) {
    InclusiveScan(in, out, combine);
    all = __offload_from_lane(mask, out, lane - rank + THREADS - 1);
  }
  template <typename F> __device__ __forceinline__ void ExclusiveScan(T in, T &out, T first, F combine) {
    T v;
    InclusiveScan(in, v, combine);
    v = before(v);
    out = rank == 0 ? first : combine(first, v);
  }
  __device__ __forceinline__ void InclusiveSum(T in, T &out) { InclusiveScan(in, out, cub::Sum()); }
  __device__ __forceinline__ void InclusiveSum(T in, T &out, T &all) { InclusiveScan(in, out, cub::Sum(), all); }
  __device__ __forceinline__ void ExclusiveSum(T in, T &out) { ExclusiveScan(in, out, T(), cub::Sum()); }
};
}
#include <offload_names_end.h>
