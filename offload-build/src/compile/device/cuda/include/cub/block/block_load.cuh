// Loads of a tile by a block: https://nvidia.github.io/cccl/cub/api/classcub_1_1BlockLoad.html
#pragma once
#include <offload_names_begin.h>
#include <cub/block/block_exchange.cuh>
namespace cub {
enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};

template <typename T, int ITEMS, typename IN>
__device__ __forceinline__ void LoadDirectBlocked(int thread, IN in, T (&items)[ITEMS]) {
#pragma unroll
  for (int i = 0; i < ITEMS; i++)
    items[i] = in[thread * ITEMS + i];
}
template <typename T, int ITEMS, typename IN>
__device__ __forceinline__ void LoadDirectBlocked(int thread, IN in, T (&items)[ITEMS], int valid) {
#pragma unroll
  for (int i = 0; i < ITEMS; i++)
    if (thread * ITEMS + i < valid)
      items[i] = in[thread * ITEMS + i];
}
template <int THREADS, typename T, int ITEMS, typename IN>
__device__ __forceinline__ void LoadDirectStriped(int thread, IN in, T (&items)[ITEMS]) {
#pragma unroll
  for (int i = 0; i < ITEMS; i++)
    items[i] = in[thread + i * THREADS];
}
template <int THREADS, typename T, int ITEMS, typename IN>
__device__ __forceinline__ void LoadDirectStriped(int thread, IN in, T (&items)[ITEMS], int valid) {
#pragma unroll
  for (int i = 0; i < ITEMS; i++)
    if (thread + i * THREADS < valid)
      items[i] = in[thread + i * THREADS];
}

template <typename T, int X, int ITEMS, BlockLoadAlgorithm ALGORITHM = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1>
class BlockLoad {
  enum { THREADS = X * Y * Z };
  typedef BlockExchange<T, X, ITEMS, false, Y, Z> Exchange;

  // Neighbours in memory are loaded by neighbours among the threads, and exchanged.
  static constexpr bool EXCHANGES = ALGORITHM >= BLOCK_LOAD_TRANSPOSE;

public:
  typedef typename __offload_choice<EXCHANGES, typename Exchange::TempStorage, NullType>::Type TempStorage;

  __device__ __forceinline__ BlockLoad(TempStorage &storage) : storage(storage), thread(__offload_rank<X, Y>()) {}
  __device__ __forceinline__ BlockLoad() : BlockLoad(__offload_own_storage<TempStorage>()) {}

  template <typename IN> __device__ __forceinline__ void Load(IN in, T (&items)[ITEMS]) {
    if constexpr (ALGORITHM == BLOCK_LOAD_STRIPED) {
      LoadDirectStriped<THREADS>(thread, in, items);
    } else if constexpr (EXCHANGES) {
      LoadDirectStriped<THREADS>(thread, in, items);
      Exchange(storage).StripedToBlocked(items);
    } else {
      LoadDirectBlocked(thread, in, items);
    }
  }
  // What items from `valid` on hold is unspecified.
  template <typename IN> __device__ __forceinline__ void Load(IN in, T (&items)[ITEMS], int valid) {
    if constexpr (ALGORITHM == BLOCK_LOAD_STRIPED) {
      LoadDirectStriped<THREADS>(thread, in, items, valid);
    } else if constexpr (EXCHANGES) {
      LoadDirectStriped<THREADS>(thread, in, items, valid);
      Exchange(storage).StripedToBlocked(items);
    } else {
      LoadDirectBlocked(thread, in, items, valid);
    }
  }
  template <typename IN, typename DEFAULT>
  __device__ __forceinline__ void Load(IN in, T (&items)[ITEMS], int valid, DEFAULT value) {
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
      items[i] = value;
    Load(in, items, valid);
  }

private:
  TempStorage &storage;
  int thread;
};
}
#include <offload_names_end.h>
