// Copies to shared memory in groups that are waited for:
// https://docs.nvidia.com/cuda/cuda-c-programming-guide/#pipeline-primitives-interface
// From sm_80 on a copy goes on beside its thread, elsewhere it is done at once.
#pragma once
#include <offload_names_begin.h>
#define __OFFLOAD_FN static __device__ __forceinline__
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 800
#define __OFFLOAD_COPY(SIZE) \
  __nvvm_cp_async_ca_shared_global_##SIZE((__attribute__((address_space(3))) void *)to, \
                                          (__attribute__((address_space(1))) const void *)from, (int)(size - zeros))
// The last `zeros` of the `size` bytes (4, 8 or 16) are not read, and are 0.
__OFFLOAD_FN void __pipeline_memcpy_async(void *to, const void *from, size_t size, size_t zeros = 0) {
  if (size == 4)
    __OFFLOAD_COPY(4);
  else if (size == 8)
    __OFFLOAD_COPY(8);
  else
    __OFFLOAD_COPY(16);
}
#undef __OFFLOAD_COPY
__OFFLOAD_FN void __pipeline_commit() { __nvvm_cp_async_commit_group(); }
// Returns when all groups of this thread but the last `count` have arrived.
__OFFLOAD_FN void __pipeline_wait_prior(size_t count) {
  switch (count) {
  case 1:
    return __nvvm_cp_async_wait_group(1);
  case 2:
    return __nvvm_cp_async_wait_group(2);
  case 3:
    return __nvvm_cp_async_wait_group(3);
  case 4:
    return __nvvm_cp_async_wait_group(4);
  case 5:
    return __nvvm_cp_async_wait_group(5);
  case 6:
    return __nvvm_cp_async_wait_group(6);
  case 7:
    return __nvvm_cp_async_wait_group(7);
  default:
    return __nvvm_cp_async_wait_group(0);
  }
}
#else
__OFFLOAD_FN void __pipeline_memcpy_async(void *to, const void *from, size_t size, size_t zeros = 0) {
  if (zeros != 0)
    __builtin_memset(to, 0, size);
  if (size == 4 && zeros == 0)
    *(unsigned int *)to = *(const unsigned int *)from;
  else if (size == 8 && zeros == 0)
    *(uint2 *)to = *(const uint2 *)from;
  else if (size == 16 && zeros == 0)
    *(uint4 *)to = *(const uint4 *)from;
  else
    __builtin_memcpy(to, from, size - zeros);
}
__OFFLOAD_FN void __pipeline_commit() {}
__OFFLOAD_FN void __pipeline_wait_prior(size_t) {}
#endif
#undef __OFFLOAD_FN
#include <offload_names_end.h>
