// Scans over lanes of a warp:
// https://docs.nvidia.com/cuda/cuda-c-programming-guide/#inclusive-scan-and-exclusive-scan
#pragma once
#include <offload_names_begin.h>
#include <cooperative_groups/reduce.h>
namespace cooperative_groups {
template <typename Group, typename T, typename F>
static __device__ __forceinline__ T inclusive_scan(const Group &group, T v, F combine) {
  unsigned int rank = group.thread_rank();
  for (unsigned int step = 1; step < group.num_threads(); step *= 2) {
    T before = group.shfl_up(v, step);
    if (rank >= step)
      v = combine(before, v);
  }
  return v;
}
// The first thread gets a value that its type has by default.
template <typename Group, typename T, typename F>
static __device__ __forceinline__ T exclusive_scan(const Group &group, T v, F combine) {
  T before = group.shfl_up(inclusive_scan(group, v, combine), 1);
  return group.thread_rank() == 0 ? T() : before;
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
// Scans that go on from the value of an atomic object, which gets the whole result.
template <typename Group, typename Atomic, typename T, typename F>
static __device__ __forceinline__ T exclusive_scan_update(const Group &group, Atomic &from, T v, F combine) {
  unsigned int last = group.num_threads() - 1;
  T within = inclusive_scan(group, v, combine), before = T();
  if (group.thread_rank() == last)
    before = __offload_update(from, within, combine);
  before = group.shfl(before, last);
  T own = group.shfl_up(within, 1);
  return group.thread_rank() == 0 ? before : combine(before, own);
}
template <typename Group, typename Atomic, typename T, typename F>
static __device__ __forceinline__ T inclusive_scan_update(const Group &group, Atomic &from, T v, F combine) {
  return combine(exclusive_scan_update(group, from, v, combine), v);
}
template <typename Group, typename Atomic, typename T>
static __device__ __forceinline__ T exclusive_scan_update(const Group &group, Atomic &from, T v) {
  return exclusive_scan_update(group, from, v, plus<T>());
}
template <typename Group, typename Atomic, typename T>
static __device__ __forceinline__ T inclusive_scan_update(const Group &group, Atomic &from, T v) {
  return inclusive_scan_update(group, from, v, plus<T>());
}
#endif
template <typename Group, typename T> static __device__ __forceinline__ T inclusive_scan(const Group &group, T v) {
  return inclusive_scan(group, v, plus<T>());
}
template <typename Group, typename T> static __device__ __forceinline__ T exclusive_scan(const Group &group, T v) {
  return exclusive_scan(group, v, plus<T>());
}
}
#include <offload_names_end.h>
