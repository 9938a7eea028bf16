// Scans within a block: https://nvidia.github.io/cccl/cub/api/classcub_1_1BlockScan.html
#pragma once
#include <offload_names_begin.h>
#include <cub/thread/thread_operators.cuh>
#include <cub/util_type.cuh>
namespace cub {
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <typename T, int X, BlockScanAlgorithm ALGORITHM = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1> class BlockScan {
  enum { THREADS = X * Y * Z, WARPS = (THREADS + 31) / 32 };

public:
  struct TempStorage {
    __offload_array<T, WARPS> of_warps;
  };
  __device__ __forceinline__ BlockScan(TempStorage &storage) : storage(storage) {
    thread = __offload_rank<X, Y>();
  }
  __device__ __forceinline__ BlockScan() : BlockScan(__offload_own_storage<TempStorage>()) {}

  template <typename F> __device__ __forceinline__ void InclusiveScan(T in, T &out, F combine) {
    T all;
    InclusiveScan(in, out, combine, all);
  }
  template <typename F> __device__ __forceinline__ void InclusiveScan(T in, T &out, F combine, T &all) {
    T v = of_warp(in, combine);
    T before;
    bool has_before = warps_before(v, combine, before, all);
    out = has_before ? combine(before, v) : v;
  }
  template <typename F> __device__ __forceinline__ void ExclusiveScan(T in, T &out, T first, F combine) {
    T all;
    ExclusiveScan(in, out, first, combine, all);
  }
  template <typename F> __device__ __forceinline__ void ExclusiveScan(T in, T &out, T first, F combine, T &all) {
    T v = of_warp(in, combine);
    T before;
    bool has_before = warps_before(v, combine, before, all);
    int lane = thread % 32;
    T of_lanes = __offload_from_lane(mask(), v, lane == 0 ? 0 : lane - 1);
    out = first;
    if (has_before)
      out = combine(out, before);
    if (lane > 0)
      out = combine(out, of_lanes);
  }
  __device__ __forceinline__ void InclusiveSum(T in, T &out) { InclusiveScan(in, out, cub::Sum()); }
  __device__ __forceinline__ void InclusiveSum(T in, T &out, T &all) { InclusiveScan(in, out, cub::Sum(), all); }
  __device__ __forceinline__ void ExclusiveSum(T in, T &out) { ExclusiveScan(in, out, T(), cub::Sum()); }
  __device__ __forceinline__ void ExclusiveSum(T in, T &out, T &all) { ExclusiveScan(in, out, T(), cub::Sum(), all); }

  // Of the items of a thread, in order.
  template <int ITEMS, typename F>
  __device__ __forceinline__ void InclusiveScan(T (&in)[ITEMS], T (&out)[ITEMS], F combine) {
    T all;
    InclusiveScan(in, out, combine, all);
  }
  template <int ITEMS, typename F>
  __device__ __forceinline__ void InclusiveScan(T (&in)[ITEMS], T (&out)[ITEMS], F combine, T &all) {
    T v = of_warp(of_thread(in, combine), combine), before;
    bool has_before = before_thread(v, combine, before, all);
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
      before = i == 0 && !has_before ? in[i] : combine(before, in[i]);
      out[i] = before;
    }
  }
  template <int ITEMS, typename F>
  __device__ __forceinline__ void ExclusiveScan(T (&in)[ITEMS], T (&out)[ITEMS], T first, F combine) {
    T all;
    ExclusiveScan(in, out, first, combine, all);
  }
  template <int ITEMS, typename F>
  __device__ __forceinline__ void ExclusiveScan(T (&in)[ITEMS], T (&out)[ITEMS], T first, F combine, T &all) {
    T v = of_warp(of_thread(in, combine), combine), before;
    bool has_before = before_thread(v, combine, before, all);
    T next = has_before ? combine(first, before) : first;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
      T item = in[i];
      out[i] = next;
      next = combine(next, item);
    }
  }
  template <int ITEMS> __device__ __forceinline__ void InclusiveSum(T (&in)[ITEMS], T (&out)[ITEMS]) {
    InclusiveScan(in, out, cub::Sum());
  }
  template <int ITEMS> __device__ __forceinline__ void InclusiveSum(T (&in)[ITEMS], T (&out)[ITEMS], T &all) {
    InclusiveScan(in, out, cub::Sum(), all);
  }
  template <int ITEMS> __device__ __forceinline__ void ExclusiveSum(T (&in)[ITEMS], T (&out)[ITEMS]) {
    ExclusiveScan(in, out, T(), cub::Sum());
  }
  template <int ITEMS> __device__ __forceinline__ void ExclusiveSum(T (&in)[ITEMS], T (&out)[ITEMS], T &all) {
    ExclusiveScan(in, out, T(), cub::Sum(), all);
  }

private:
  TempStorage &storage;
  int thread;

  template <int ITEMS, typename F> static __device__ __forceinline__ T of_thread(T (&items)[ITEMS], F combine) {
    T v = items[0];
#pragma unroll
    for (int i = 1; i < ITEMS; i++)
      v = combine(v, items[i]);
    return v;
  }
  // What the threads before have together, which the first one has not; `v` is the scan of the warp.
  template <typename F> __device__ __forceinline__ bool before_thread(T v, F combine, T &before, T &all) {
    T of_warps;
    bool has_warps = warps_before(v, combine, of_warps, all);
    int lane = thread % 32;
    T of_lanes = __offload_from_lane(mask(), v, lane == 0 ? 0 : lane - 1);
    if (lane == 0)
      before = of_warps;
    else
      before = has_warps ? combine(of_warps, of_lanes) : of_lanes;
    return lane > 0 || has_warps;
  }
  // Of the lanes that the block has in this warp.
  __device__ __forceinline__ unsigned int mask() {
    int lanes = THREADS - thread / 32 * 32;
    return lanes >= 32 ? ~0u : (1u << lanes) - 1;
  }
  template <typename F> __device__ __forceinline__ T of_warp(T v, F combine) {
    int lane = thread % 32;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      T other = __offload_from_lane(mask(), v, lane < step ? lane : lane - step);
      if (lane >= step)
        v = combine(other, v);
    }
    return v;
  }
  // What the warps before have together, which the first one has not, and `all` of the block.
  template <typename F> __device__ __forceinline__ bool warps_before(T v, F combine, T &before, T &all) {
    int warp = thread / 32;
    if (thread % 32 == 31 || thread == THREADS - 1)
      storage.of_warps[warp] = v;
    __syncthreads();
    all = before = storage.of_warps[0];
#pragma unroll
    for (int i = 1; i < WARPS; i++) {
      if (i == warp)
        before = all;
      all = combine(all, storage.of_warps[i]);
    }
    return warp > 0;
  }
};
}
#include <offload_names_end.h>
