// Exchanges between the threads of a block: https://nvidia.github.io/cccl/cub/api/classcub_1_1BlockExchange.html
#pragma once
#include <offload_names_begin.h>
#include <cub/util_type.cuh>
namespace cub {
template <typename T, int X, int ITEMS, bool WARP_TIME_SLICING = false, int Y = 1, int Z = 1> class BlockExchange {
  enum { THREADS = X * Y * Z };

public:
  struct TempStorage {
    __offload_array<T, THREADS * ITEMS> items;
  };
  __device__ __forceinline__ BlockExchange(TempStorage &storage) : storage(storage), thread(__offload_rank<X, Y>()) {}
  __device__ __forceinline__ BlockExchange() : BlockExchange(__offload_own_storage<TempStorage>()) {}

  // A thread has ITEMS neighbours in a blocked arrangement, and every THREADS-th item in a striped one.
  __device__ __forceinline__ void BlockedToStriped(const T (&in)[ITEMS], T (&out)[ITEMS]) {
    put(in, thread * ITEMS, 1);
    get(out, thread, THREADS);
  }
  __device__ __forceinline__ void StripedToBlocked(const T (&in)[ITEMS], T (&out)[ITEMS]) {
    put(in, thread, THREADS);
    get(out, thread * ITEMS, 1);
  }
  // As striped, within the items of a warp.
  __device__ __forceinline__ void BlockedToWarpStriped(const T (&in)[ITEMS], T (&out)[ITEMS]) {
    put(in, thread * ITEMS, 1);
    get(out, warp_start(), lanes());
  }
  __device__ __forceinline__ void WarpStripedToBlocked(const T (&in)[ITEMS], T (&out)[ITEMS]) {
    put(in, warp_start(), lanes());
    get(out, thread * ITEMS, 1);
  }
  template <typename RANK>
  __device__ __forceinline__ void ScatterToBlocked(const T (&in)[ITEMS], T (&out)[ITEMS], const RANK (&ranks)[ITEMS]) {
    scatter(in, ranks);
    get(out, thread * ITEMS, 1);
  }
  template <typename RANK>
  __device__ __forceinline__ void ScatterToStriped(const T (&in)[ITEMS], T (&out)[ITEMS], const RANK (&ranks)[ITEMS]) {
    scatter(in, ranks);
    get(out, thread, THREADS);
  }
  __device__ __forceinline__ void BlockedToStriped(T (&items)[ITEMS]) { BlockedToStriped(items, items); }
  __device__ __forceinline__ void StripedToBlocked(T (&items)[ITEMS]) { StripedToBlocked(items, items); }
  __device__ __forceinline__ void BlockedToWarpStriped(T (&items)[ITEMS]) { BlockedToWarpStriped(items, items); }
  __device__ __forceinline__ void WarpStripedToBlocked(T (&items)[ITEMS]) { WarpStripedToBlocked(items, items); }
  template <typename RANK>
  __device__ __forceinline__ void ScatterToBlocked(T (&items)[ITEMS], const RANK (&ranks)[ITEMS]) {
    ScatterToBlocked(items, items, ranks);
  }
  template <typename RANK>
  __device__ __forceinline__ void ScatterToStriped(T (&items)[ITEMS], const RANK (&ranks)[ITEMS]) {
    ScatterToStriped(items, items, ranks);
  }

private:
  TempStorage &storage;
  int thread;

  __device__ __forceinline__ int warp_start() { return thread / 32 * 32 * ITEMS + thread % 32; }
  // Of this warp, which in a block of another size has fewer.
  __device__ __forceinline__ int lanes() {
    int left = THREADS - thread / 32 * 32;
    return left < 32 ? left : 32;
  }
  __device__ __forceinline__ void put(const T (&items)[ITEMS], int start, int step) {
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
      storage.items[start + i * step] = items[i];
    __syncthreads();
  }
  template <typename RANK>
  __device__ __forceinline__ void scatter(const T (&items)[ITEMS], const RANK (&ranks)[ITEMS]) {
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
      storage.items[ranks[i]] = items[i];
    __syncthreads();
  }
  __device__ __forceinline__ void get(T (&items)[ITEMS], int start, int step) {
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
      items[i] = storage.items[start + i * step];
  }
};
}
#include <offload_names_end.h>
