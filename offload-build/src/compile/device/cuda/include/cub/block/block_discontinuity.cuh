// Flags where neighbours differ: https://nvidia.github.io/cccl/cub/api/classcub_1_1BlockDiscontinuity.html
#pragma once
#include <offload_names_begin.h>
#include <cub/thread/thread_operators.cuh>
#include <cub/util_type.cuh>
namespace cub {
template <typename T, int X, int Y = 1, int Z = 1> class BlockDiscontinuity {
  enum { THREADS = X * Y * Z };

public:
  struct TempStorage {
    __offload_array<T, THREADS> first, last;
  };
  __device__ __forceinline__ BlockDiscontinuity(TempStorage &storage)
      : storage(storage), thread(__offload_rank<X, Y>()) {}
  __device__ __forceinline__ BlockDiscontinuity() : BlockDiscontinuity(__offload_own_storage<TempStorage>()) {}

  // The first item of the block is flagged, or compared with the one before the tile.
  template <int ITEMS, typename FLAG, typename F>
  __device__ __forceinline__ void FlagHeads(FLAG (&flags)[ITEMS], T (&items)[ITEMS], F differ) {
    share(items);
    heads(flags, items, differ, thread == 0 ? nullptr : &storage.last[thread - 1]);
  }
  template <int ITEMS, typename FLAG, typename F>
  __device__ __forceinline__ void FlagHeads(FLAG (&flags)[ITEMS], T (&items)[ITEMS], F differ, T before) {
    share(items);
    heads(flags, items, differ, thread == 0 ? &before : &storage.last[thread - 1]);
  }
  template <int ITEMS, typename FLAG, typename F>
  __device__ __forceinline__ void FlagTails(FLAG (&flags)[ITEMS], T (&items)[ITEMS], F differ) {
    share(items);
    tails(flags, items, differ, thread == THREADS - 1 ? nullptr : &storage.first[thread + 1]);
  }
  template <int ITEMS, typename FLAG, typename F>
  __device__ __forceinline__ void FlagTails(FLAG (&flags)[ITEMS], T (&items)[ITEMS], F differ, T after) {
    share(items);
    tails(flags, items, differ, thread == THREADS - 1 ? &after : &storage.first[thread + 1]);
  }
  template <int ITEMS, typename FLAG, typename F>
  __device__ __forceinline__ void FlagHeadsAndTails(FLAG (&heads)[ITEMS], FLAG (&tails)[ITEMS], T (&items)[ITEMS],
                                                    F differ) {
    share(items);
    this->heads(heads, items, differ, thread == 0 ? nullptr : &storage.last[thread - 1]);
    this->tails(tails, items, differ, thread == THREADS - 1 ? nullptr : &storage.first[thread + 1]);
  }

private:
  TempStorage &storage;
  int thread;

  template <int ITEMS> __device__ __forceinline__ void share(T (&items)[ITEMS]) {
    storage.first[thread] = items[0];
    storage.last[thread] = items[ITEMS - 1];
    __syncthreads();
  }
  template <int ITEMS, typename FLAG, typename F>
  __device__ __forceinline__ void heads(FLAG (&flags)[ITEMS], T (&items)[ITEMS], F differ, const T *before) {
    flags[0] = before ? differ(*before, items[0]) : 1;
#pragma unroll
    for (int i = 1; i < ITEMS; i++)
      flags[i] = differ(items[i - 1], items[i]);
  }
  template <int ITEMS, typename FLAG, typename F>
  __device__ __forceinline__ void tails(FLAG (&flags)[ITEMS], T (&items)[ITEMS], F differ, const T *after) {
#pragma unroll
    for (int i = 0; i + 1 < ITEMS; i++)
      flags[i] = differ(items[i], items[i + 1]);
    flags[ITEMS - 1] = after ? differ(items[ITEMS - 1], *after) : 1;
  }
};
}
#include <offload_names_end.h>
