// Copies by a group of threads, to be waited for by all of them:
// https://docs.nvidia.com/cuda/cuda-c-programming-guide/#memcpy-async
#pragma once
#include <offload_names_begin.h>
#include <cooperative_groups.h>
#include <offload_async_copy.h>
namespace cooperative_groups {
template <typename Group, typename T, typename U, typename B>
static __device__ __forceinline__ void memcpy_async(const Group &group, T *to, const U *from, const B &size) {
  __offload_copy_async(group.thread_rank(), group.num_threads(), to, from, size);
  __pipeline_commit();
}
// Of as many elements as both hold.
template <typename Group, typename T, typename A, typename U, typename B>
static __device__ __forceinline__ void memcpy_async(const Group &group, T *to, const A &to_count, const U *from,
                                                    const B &from_count) {
  size_t room = (size_t)to_count * sizeof(T);
  size_t size = (size_t)from_count * sizeof(U);
  memcpy_async(group, to, from, room < size ? room : size);
}
template <typename Group> static __device__ __forceinline__ void wait(const Group &group) {
  __pipeline_wait_prior(0);
  group.sync();
}
// For all copies but the last `COUNT`.
template <unsigned int COUNT, typename Group> static __device__ __forceinline__ void wait_prior(const Group &group) {
  __pipeline_wait_prior(COUNT);
  group.sync();
}
}
#include <offload_names_end.h>
