// Stores of a tile by a block: https://nvidia.github.io/cccl/cub/api/classcub_1_1BlockStore.html
#pragma once
#include <offload_names_begin.h>
#include <cub/block/block_exchange.cuh>
namespace cub {
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

template <typename T, int ITEMS, typename OUT>
__device__ __forceinline__ void StoreDirectBlocked(int thread, OUT out, T (&items)[ITEMS]) {
#pragma unroll
  for (int i = 0; i < ITEMS; i++)
    out[thread * ITEMS + i] = items[i];
}
template <typename T, int ITEMS, typename OUT>
__device__ __forceinline__ void StoreDirectBlocked(int thread, OUT out, T (&items)[ITEMS], int valid) {
#pragma unroll
  for (int i = 0; i < ITEMS; i++)
    if (thread * ITEMS + i < valid)
      out[thread * ITEMS + i] = items[i];
}
template <int THREADS, typename T, int ITEMS, typename OUT>
__device__ __forceinline__ void StoreDirectStriped(int thread, OUT out, T (&items)[ITEMS]) {
#pragma unroll
  for (int i = 0; i < ITEMS; i++)
    out[thread + i * THREADS] = items[i];
}
template <int THREADS, typename T, int ITEMS, typename OUT>
__device__ __forceinline__ void StoreDirectStriped(int thread, OUT out, T (&items)[ITEMS], int valid) {
#pragma unroll
  for (int i = 0; i < ITEMS; i++)
    if (thread + i * THREADS < valid)
      out[thread + i * THREADS] = items[i];
}

template <typename T, int X, int ITEMS, BlockStoreAlgorithm ALGORITHM = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1>
class BlockStore {
  enum { THREADS = X * Y * Z };
  typedef BlockExchange<T, X, ITEMS, false, Y, Z> Exchange;
  static constexpr bool EXCHANGES = ALGORITHM >= BLOCK_STORE_TRANSPOSE;

public:
  typedef typename __offload_choice<EXCHANGES, typename Exchange::TempStorage, NullType>::Type TempStorage;

  __device__ __forceinline__ BlockStore(TempStorage &storage) : storage(storage), thread(__offload_rank<X, Y>()) {}
  __device__ __forceinline__ BlockStore() : BlockStore(__offload_own_storage<TempStorage>()) {}

  template <typename OUT> __device__ __forceinline__ void Store(OUT out, T (&items)[ITEMS]) {
    Store(out, items, THREADS * ITEMS);
  }
  template <typename OUT> __device__ __forceinline__ void Store(OUT out, T (&items)[ITEMS], int valid) {
    if constexpr (ALGORITHM == BLOCK_STORE_STRIPED) {
      StoreDirectStriped<THREADS>(thread, out, items, valid);
    } else if constexpr (EXCHANGES) {
      T striped[ITEMS];
      Exchange(storage).BlockedToStriped(items, striped);
      StoreDirectStriped<THREADS>(thread, out, striped, valid);
    } else {
      StoreDirectBlocked(thread, out, items, valid);
    }
  }

private:
  TempStorage &storage;
  int thread;
};
}
#include <offload_names_end.h>
