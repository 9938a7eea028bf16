// Sorts within a block: https://nvidia.github.io/cccl/cub/api/classcub_1_1BlockRadixSort.html
#pragma once
#include <offload_names_begin.h>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_radix_rank.cuh>
#include <cub/block/block_scan.cuh>
namespace cub {
template <typename KEY, int X, int ITEMS, typename VALUE = NullType, int BITS = 4, bool MEMOIZE = true,
          BlockScanAlgorithm SCAN = BLOCK_SCAN_WARP_SCANS,
          cudaSharedMemConfig CONFIG = cudaSharedMemBankSizeFourByte, int Y = 1, int Z = 1>
class BlockRadixSort {
  enum { THREADS = X * Y * Z, DIGITS = 1 << BITS };
  typedef BlockScan<unsigned int, X, SCAN, Y, Z> Scan;
  typedef BlockExchange<KEY, X, ITEMS, false, Y, Z> Keys;
  typedef BlockExchange<VALUE, X, ITEMS, false, Y, Z> Values;

public:
  union TempStorage {
    struct {
      // Of each digit, the number of the items that a thread has; in the end the rank of the next one.
      unsigned int counts[DIGITS][THREADS];
      typename Scan::TempStorage scan;
    } ranks;
    typename Keys::TempStorage keys;
    typename Values::TempStorage values;
  };
  __device__ __forceinline__ BlockRadixSort(TempStorage &storage) : storage(storage), thread(__offload_rank<X, Y>()) {}
  __device__ __forceinline__ BlockRadixSort() : BlockRadixSort(__offload_own_storage<TempStorage>()) {}

  // Of keys in a blocked arrangement, which they keep. Equal keys keep their order.
  __device__ __forceinline__ void Sort(KEY (&keys)[ITEMS], int begin = 0, int end = sizeof(KEY) * 8) {
    NullType values[ITEMS];
    sort<false, false>(keys, values, begin, end);
  }
  __device__ __forceinline__ void Sort(KEY (&keys)[ITEMS], VALUE (&values)[ITEMS], int begin = 0,
                                       int end = sizeof(KEY) * 8) {
    sort<false, false>(keys, values, begin, end);
  }
  __device__ __forceinline__ void SortDescending(KEY (&keys)[ITEMS], int begin = 0, int end = sizeof(KEY) * 8) {
    NullType values[ITEMS];
    sort<true, false>(keys, values, begin, end);
  }
  __device__ __forceinline__ void SortDescending(KEY (&keys)[ITEMS], VALUE (&values)[ITEMS], int begin = 0,
                                                 int end = sizeof(KEY) * 8) {
    sort<true, false>(keys, values, begin, end);
  }
  // To a striped arrangement.
  __device__ __forceinline__ void SortBlockedToStriped(KEY (&keys)[ITEMS], int begin = 0,
                                                       int end = sizeof(KEY) * 8) {
    NullType values[ITEMS];
    sort<false, true>(keys, values, begin, end);
  }
  __device__ __forceinline__ void SortBlockedToStriped(KEY (&keys)[ITEMS], VALUE (&values)[ITEMS], int begin = 0,
                                                       int end = sizeof(KEY) * 8) {
    sort<false, true>(keys, values, begin, end);
  }
  __device__ __forceinline__ void SortDescendingBlockedToStriped(KEY (&keys)[ITEMS], int begin = 0,
                                                                 int end = sizeof(KEY) * 8) {
    NullType values[ITEMS];
    sort<true, true>(keys, values, begin, end);
  }
  __device__ __forceinline__ void SortDescendingBlockedToStriped(KEY (&keys)[ITEMS], VALUE (&values)[ITEMS],
                                                                 int begin = 0, int end = sizeof(KEY) * 8) {
    sort<true, true>(keys, values, begin, end);
  }

private:
  TempStorage &storage;
  int thread;

  // A pass for each BITS bits, from the lowest on.
  template <bool DESCENDING, bool TO_STRIPED, typename V>
  __device__ __forceinline__ void sort(KEY (&keys)[ITEMS], V (&values)[ITEMS], int begin, int end) {
    for (int bit = begin; bit < end; bit += BITS) {
      int bits = end - bit < BITS ? end - bit : BITS;
      unsigned int ranks[ITEMS];
      rank<DESCENDING>(keys, ranks, bit, bits);
      bool is_last = bit + BITS >= end;
      __syncthreads();
      exchange<TO_STRIPED>(Keys(storage.keys), keys, ranks, is_last);
      if constexpr (sizeof(V) > 1 || !__is_empty(V)) {
        __syncthreads();
        exchange<TO_STRIPED>(Values(storage.values), values, ranks, is_last);
      }
      __syncthreads();
    }
  }
  template <bool TO_STRIPED, typename EXCHANGE, typename T>
  static __device__ __forceinline__ void exchange(EXCHANGE exchange, T (&items)[ITEMS], unsigned int (&ranks)[ITEMS],
                                                  bool is_last) {
    if (TO_STRIPED && is_last)
      exchange.ScatterToStriped(items, ranks);
    else
      exchange.ScatterToBlocked(items, ranks);
  }
  template <bool DESCENDING>
  __device__ __forceinline__ void rank(KEY (&keys)[ITEMS], unsigned int (&ranks)[ITEMS], int bit, int bits) {
    unsigned int(&counts)[DIGITS][THREADS] = storage.ranks.counts;
#pragma unroll
    for (int digit = 0; digit < DIGITS; digit++)
      counts[digit][thread] = 0;
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
      counts[__offload_digit<DESCENDING>(keys[i], bit, bits)][thread]++;
    __syncthreads();
    // Each thread sums DIGITS neighbours of all counts, those of a digit before those of the next.
    unsigned int *own = &counts[0][0] + thread * DIGITS;
    unsigned int sum = 0, before;
#pragma unroll
    for (int i = 0; i < DIGITS; i++)
      sum += own[i];
    Scan(storage.ranks.scan).ExclusiveSum(sum, before);
#pragma unroll
    for (int i = 0; i < DIGITS; i++) {
      unsigned int count = own[i];
      own[i] = before;
      before += count;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
      ranks[i] = counts[__offload_digit<DESCENDING>(keys[i], bit, bits)][thread]++;
  }
};
}
#include <offload_names_end.h>
