// Differences of neighbours: https://nvidia.github.io/cccl/cub/api/classcub_1_1BlockAdjacentDifference.html
#pragma once
#include <offload_names_begin.h>
#include <cub/util_type.cuh>
namespace cub {
template <typename T, int X, int Y = 1, int Z = 1> class BlockAdjacentDifference {
  enum { THREADS = X * Y * Z };

public:
  struct TempStorage {
    __offload_array<T, THREADS> first, last;
  };
  __device__ __forceinline__ BlockAdjacentDifference(TempStorage &storage)
      : storage(storage), thread(__offload_rank<X, Y>()) {}
  __device__ __forceinline__ BlockAdjacentDifference()
      : BlockAdjacentDifference(__offload_own_storage<TempStorage>()) {}

  // The first item of the block is copied, or has the one before the tile subtracted.
  template <int ITEMS, typename OUT, typename F>
  __device__ __forceinline__ void SubtractLeft(T (&items)[ITEMS], OUT (&out)[ITEMS], F subtract) {
    left(items, out, subtract, nullptr, THREADS * ITEMS);
  }
  template <int ITEMS, typename OUT, typename F>
  __device__ __forceinline__ void SubtractLeft(T (&items)[ITEMS], OUT (&out)[ITEMS], F subtract, T before) {
    left(items, out, subtract, &before, THREADS * ITEMS);
  }
  // Items from `valid` on are copied.
  template <int ITEMS, typename OUT, typename F>
  __device__ __forceinline__ void SubtractLeftPartialTile(T (&items)[ITEMS], OUT (&out)[ITEMS], F subtract, int valid) {
    left(items, out, subtract, nullptr, valid);
  }
  template <int ITEMS, typename OUT, typename F>
  __device__ __forceinline__ void SubtractLeftPartialTile(T (&items)[ITEMS], OUT (&out)[ITEMS], F subtract, int valid,
                                                          T before) {
    left(items, out, subtract, &before, valid);
  }
  template <int ITEMS, typename OUT, typename F>
  __device__ __forceinline__ void SubtractRight(T (&items)[ITEMS], OUT (&out)[ITEMS], F subtract) {
    right(items, out, subtract, nullptr, THREADS * ITEMS);
  }
  template <int ITEMS, typename OUT, typename F>
  __device__ __forceinline__ void SubtractRight(T (&items)[ITEMS], OUT (&out)[ITEMS], F subtract, T after) {
    right(items, out, subtract, &after, THREADS * ITEMS);
  }
  template <int ITEMS, typename OUT, typename F>
  __device__ __forceinline__ void SubtractRightPartialTile(T (&items)[ITEMS], OUT (&out)[ITEMS], F subtract,
                                                           int valid) {
    right(items, out, subtract, nullptr, valid);
  }

private:
  TempStorage &storage;
  int thread;

  template <int ITEMS> __device__ __forceinline__ void share(T (&items)[ITEMS]) {
    storage.first[thread] = items[0];
    storage.last[thread] = items[ITEMS - 1];
    __syncthreads();
  }
  // From the last on: `out` may be `items`.
  template <int ITEMS, typename OUT, typename F>
  __device__ __forceinline__ void left(T (&items)[ITEMS], OUT (&out)[ITEMS], F subtract, T *before, int valid) {
    share(items);
#pragma unroll
    for (int i = ITEMS - 1; i > 0; i--)
      out[i] = thread * ITEMS + i < valid ? subtract(items[i], items[i - 1]) : items[i];
    T *neighbour = thread == 0 ? before : &storage.last[thread - 1];
    out[0] = neighbour && thread * ITEMS < valid ? subtract(items[0], *neighbour) : items[0];
  }
  template <int ITEMS, typename OUT, typename F>
  __device__ __forceinline__ void right(T (&items)[ITEMS], OUT (&out)[ITEMS], F subtract, T *after, int valid) {
    share(items);
#pragma unroll
    for (int i = 0; i + 1 < ITEMS; i++)
      out[i] = thread * ITEMS + i + 1 < valid ? subtract(items[i], items[i + 1]) : items[i];
    T *neighbour = thread == THREADS - 1 ? after : &storage.first[thread + 1];
    bool has_neighbour = neighbour && (thread == THREADS - 1 || (thread + 1) * ITEMS < valid);
    out[ITEMS - 1] = has_neighbour ? subtract(items[ITEMS - 1], *neighbour) : items[ITEMS - 1];
  }
};
}
#include <offload_names_end.h>
