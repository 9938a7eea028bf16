// Types that CUB's classes share: https://nvidia.github.io/cccl/cub/
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <offload_names_begin.h>
namespace cub {
struct NullType {};
// An array in shared memory, whose variables have no constructors.
template <typename T, int COUNT> struct __offload_array {
  alignas(T) unsigned char bytes[sizeof(T) * COUNT];
  __device__ __forceinline__ T &operator[](int i) { return reinterpret_cast<T *>(bytes)[i]; }
};
template <bool CONDITION, typename YES, typename NO> struct __offload_choice { typedef YES Type; };
template <typename YES, typename NO> struct __offload_choice<false, YES, NO> { typedef NO Type; };
// The place of a thread in a block of X * Y * Z.
template <int X, int Y> __device__ __forceinline__ int __offload_rank() {
  return threadIdx.x + X * (threadIdx.y + Y * threadIdx.z);
}
// Storage of a class that was made without any.
template <typename STORAGE> __device__ __forceinline__ STORAGE &__offload_own_storage() {
  __shared__ STORAGE storage;
  return storage;
}
}
#include <offload_names_end.h>
