
// Functions of warps, over the lane, the ballot and the exchange of a target:
// https://docs.nvidia.com/cuda/cuda-c-programming-guide/#warp-shuffle-functions
static __device__ const int warpSize = 32;

// The lane that each function reads, within parts of `width` lanes; a lane that would read beyond its part reads its own.
__OFFLOAD_FN unsigned int __offload_lane_at(int lane, int width) {
  return (__offload_lane() & ~(width - 1)) | (lane & (width - 1));
}
__OFFLOAD_FN unsigned int __offload_lane_up(unsigned int by, int width) {
  unsigned int lane = __offload_lane();
  return (lane & (width - 1)) < by ? lane : lane - by;
}
__OFFLOAD_FN unsigned int __offload_lane_down(unsigned int by, int width) {
  unsigned int lane = __offload_lane();
  return (lane & (width - 1)) + by >= (unsigned int)width ? lane : lane + by;
}
__OFFLOAD_FN unsigned int __offload_lane_xor(int lanes, int width) {
  unsigned int lane = __offload_lane();
  unsigned int other = lane ^ lanes;
  return other >= (lane & ~(width - 1)) + width ? lane : other;
}
#ifndef __OFFLOAD_EXCHANGE
#define __OFFLOAD_EXCHANGE(TYPE, MASK, V, LANE) __offload_exchange(MASK, V, LANE)
#endif
#define __OFFLOAD_WORDS(NAME, LANE, TYPE_OF_LANE, TYPE) \
  __OFFLOAD_FN TYPE NAME(unsigned int mask, TYPE v, TYPE_OF_LANE lane, int width = 32) { \
    enum { SIZE = sizeof(__offload_lane_word), WORDS = (sizeof(TYPE) + SIZE - 1) / SIZE }; \
    __offload_lane_word words[WORDS] = {}; \
    __builtin_memcpy(words, &v, sizeof(TYPE)); \
    _Pragma("unroll") for (int i = 0; i < WORDS; i++) \
      words[i] = __OFFLOAD_EXCHANGE(TYPE, mask, words[i], LANE(lane, width)); \
    __builtin_memcpy(&v, words, sizeof(TYPE)); \
    return v; \
  }
#define __OFFLOAD_SHUFFLE(NAME, LANE, TYPE_OF_LANE) \
  __OFFLOAD_WORDS(NAME, LANE, TYPE_OF_LANE, int) __OFFLOAD_WORDS(NAME, LANE, TYPE_OF_LANE, unsigned int) \
  __OFFLOAD_WORDS(NAME, LANE, TYPE_OF_LANE, long) __OFFLOAD_WORDS(NAME, LANE, TYPE_OF_LANE, unsigned long) \
  __OFFLOAD_WORDS(NAME, LANE, TYPE_OF_LANE, long long) \
  __OFFLOAD_WORDS(NAME, LANE, TYPE_OF_LANE, unsigned long long) \
  __OFFLOAD_WORDS(NAME, LANE, TYPE_OF_LANE, float) __OFFLOAD_WORDS(NAME, LANE, TYPE_OF_LANE, double)
__OFFLOAD_SHUFFLE(__shfl_sync, __offload_lane_at, int)
__OFFLOAD_SHUFFLE(__shfl_up_sync, __offload_lane_up, unsigned int)
__OFFLOAD_SHUFFLE(__shfl_down_sync, __offload_lane_down, unsigned int)
__OFFLOAD_SHUFFLE(__shfl_xor_sync, __offload_lane_xor, int)
#undef __OFFLOAD_SHUFFLE
#undef __OFFLOAD_WORDS
#undef __OFFLOAD_EXCHANGE

__OFFLOAD_FN void __syncwarp(unsigned int mask = ~0u) { __offload_warp_barrier(mask); }
__OFFLOAD_FN unsigned int __activemask() { return __offload_ballot(0, true); }
__OFFLOAD_FN unsigned int __ballot_sync(unsigned int mask, int v) { return __offload_ballot(mask, v != 0) & mask; }
__OFFLOAD_FN int __any_sync(unsigned int mask, int v) { return __ballot_sync(mask, v) != 0; }
// Not by comparison with `mask`: it may name lanes that have left.
__OFFLOAD_FN int __all_sync(unsigned int mask, int v) { return __ballot_sync(mask, v == 0) == 0; }
__OFFLOAD_FN int __uni_sync(unsigned int mask, int v) { return __all_sync(mask, v) || __all_sync(mask, v == 0); }

template <typename T> __OFFLOAD_FN unsigned int __offload_match(unsigned int mask, T v) {
  unsigned int same = 0;
  for (int lane = 0; lane < 32; lane++)
    same |= (unsigned int)(__shfl_sync(mask, v, lane) == v) << lane;
  return same & mask & __activemask();
}
#define __OFFLOAD_MATCH(TYPE, BITS) \
  __OFFLOAD_FN unsigned int __match_any_sync(unsigned int mask, TYPE v) { \
    return __offload_match(mask, __builtin_bit_cast(BITS, v)); \
  } \
  __OFFLOAD_FN unsigned int __match_all_sync(unsigned int mask, TYPE v, int *is_same) { \
    unsigned int here = mask & __activemask(); \
    *is_same = __match_any_sync(mask, v) == here; \
    return *is_same ? here : 0; \
  }
__OFFLOAD_MATCH(int, unsigned int)
__OFFLOAD_MATCH(unsigned int, unsigned int)
__OFFLOAD_MATCH(float, unsigned int)
__OFFLOAD_MATCH(long, unsigned long)
__OFFLOAD_MATCH(unsigned long, unsigned long)
__OFFLOAD_MATCH(long long, unsigned long long)
__OFFLOAD_MATCH(unsigned long long, unsigned long long)
__OFFLOAD_MATCH(double, unsigned long long)
#undef __OFFLOAD_MATCH

// Of the lanes in `mask` the one at an offset from `base`, which counts itself.
__OFFLOAD_FN unsigned int __fns(unsigned int mask, unsigned int base, int offset) {
  int step = offset < 0 ? -1 : 1;
  int left = offset < 0 ? -offset : offset;
  if (left == 0)
    return mask >> base & 1 ? base : ~0u;
  for (int lane = (int)base; lane >= 0 && lane < 32; lane += step) {
    left -= mask >> lane & 1;
    if (left == 0)
      return (unsigned int)lane;
  }
  return ~0u;
}

// https://docs.nvidia.com/cuda/cuda-c-programming-guide/#warp-reduce-functions
#define __OFFLOAD_REDUCE(NAME, TYPE, COMBINE) \
  __OFFLOAD_FN TYPE __reduce_##NAME##_sync(unsigned int mask, TYPE v) { \
    unsigned int left = mask & __activemask(); \
    if (left == ~0u) { \
      _Pragma("unroll") for (int step = 16; step > 0; step /= 2) { \
        TYPE other = __shfl_xor_sync(mask, v, step); \
        v = COMBINE; \
      } \
      return v; \
    } \
    TYPE own = v; \
    v = __shfl_sync(mask, own, __builtin_ctzg(left, 0)); \
    for (left &= left - 1; left != 0; left &= left - 1) { \
      TYPE other = __shfl_sync(mask, own, __builtin_ctz(left)); \
      v = COMBINE; \
    } \
    return v; \
  }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
__OFFLOAD_REDUCE(add, int, (int)((unsigned int)v + (unsigned int)other))
__OFFLOAD_REDUCE(add, unsigned int, v + other)
__OFFLOAD_REDUCE(min, int, v < other ? v : other)
__OFFLOAD_REDUCE(min, unsigned int, v < other ? v : other)
__OFFLOAD_REDUCE(max, int, v > other ? v : other)
__OFFLOAD_REDUCE(max, unsigned int, v > other ? v : other)
__OFFLOAD_REDUCE(and, unsigned int, v & other)
__OFFLOAD_REDUCE(or, unsigned int, v | other)
__OFFLOAD_REDUCE(xor, unsigned int, v ^ other)
#endif
#undef __OFFLOAD_REDUCE

// Votes of a block. The sum of a block is read before the next call empties it.
__OFFLOAD_FN int __syncthreads_count(int v) {
  __shared__ int count;
  __syncthreads();
  if ((threadIdx.x | threadIdx.y | threadIdx.z) == 0)
    count = 0;
  __syncthreads();
  unsigned int votes = __offload_ballot(0, v != 0);
  if ((votes & __offload_lanes_before()) == 0 && v != 0)
    __scoped_atomic_fetch_add(&count, __builtin_popcount(votes), __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  __syncthreads();
  return count;
}
__OFFLOAD_FN int __syncthreads_or(int v) { return __syncthreads_count(v) != 0; }
__OFFLOAD_FN int __syncthreads_and(int v) { return __syncthreads_count(v == 0) == 0; }
