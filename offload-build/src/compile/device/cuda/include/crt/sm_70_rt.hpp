// clang's header of intrinsics includes this one of a toolkit's for the functions that compare values within a warp:
// https://docs.nvidia.com/cuda/cuda-c-programming-guide/#warp-match-functions
#pragma once
#define __OFFLOAD_MATCH(TYPE, BITS, WORD) \
  static __device__ __forceinline__ unsigned int __match_any_sync(unsigned int mask, TYPE v) { \
    return __match##BITS##_any_sync(mask, __builtin_bit_cast(WORD, v)); \
  } \
  static __device__ __forceinline__ unsigned int __match_all_sync(unsigned int mask, TYPE v, int *is_same) { \
    return __match##BITS##_all_sync(mask, __builtin_bit_cast(WORD, v), is_same); \
  }
__OFFLOAD_MATCH(int, 32, unsigned int)
__OFFLOAD_MATCH(unsigned int, 32, unsigned int)
__OFFLOAD_MATCH(float, 32, unsigned int)
__OFFLOAD_MATCH(long, 64, unsigned long long)
__OFFLOAD_MATCH(unsigned long, 64, unsigned long long)
__OFFLOAD_MATCH(long long, 64, unsigned long long)
__OFFLOAD_MATCH(unsigned long long, 64, unsigned long long)
__OFFLOAD_MATCH(double, 64, unsigned long long)
#undef __OFFLOAD_MATCH
