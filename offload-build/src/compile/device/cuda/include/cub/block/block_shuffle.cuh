// Shifts of items between the threads of a block: https://nvidia.github.io/cccl/cub/api/classcub_1_1BlockShuffle.html
#pragma once
#include <offload_names_begin.h>
#include <cub/util_type.cuh>
namespace cub {
template <typename T, int X, int Y = 1, int Z = 1> class BlockShuffle {
  enum { THREADS = X * Y * Z };

public:
  struct TempStorage {
    __offload_array<T, THREADS> items;
  };
  __device__ __forceinline__ BlockShuffle(TempStorage &storage) : storage(storage), thread(__offload_rank<X, Y>()) {}
  __device__ __forceinline__ BlockShuffle() : BlockShuffle(__offload_own_storage<TempStorage>()) {}

  // The item of the thread at a distance; where there is none, `out` stays.
  __device__ __forceinline__ void Offset(T in, T &out, int distance = 1) {
    share(in);
    int other = thread + distance;
    if (other >= 0 && other < THREADS)
      out = storage.items[other];
  }
  __device__ __forceinline__ void Rotate(T in, T &out, unsigned int distance = 1) {
    share(in);
    out = storage.items[(thread + distance) % THREADS];
  }
  // All items of the block by one place; the first, or the last, stays.
  template <int ITEMS> __device__ __forceinline__ void Up(T (&in)[ITEMS], T (&out)[ITEMS]) {
    share(in[ITEMS - 1]);
#pragma unroll
    for (int i = ITEMS - 1; i > 0; i--)
      out[i] = in[i - 1];
    if (thread > 0)
      out[0] = storage.items[thread - 1];
  }
  template <int ITEMS> __device__ __forceinline__ void Up(T (&in)[ITEMS], T (&out)[ITEMS], T &last) {
    Up(in, out);
    last = storage.items[THREADS - 1];
  }
  template <int ITEMS> __device__ __forceinline__ void Down(T (&in)[ITEMS], T (&out)[ITEMS]) {
    share(in[0]);
#pragma unroll
    for (int i = 0; i + 1 < ITEMS; i++)
      out[i] = in[i + 1];
    if (thread < THREADS - 1)
      out[ITEMS - 1] = storage.items[thread + 1];
  }
  template <int ITEMS> __device__ __forceinline__ void Down(T (&in)[ITEMS], T (&out)[ITEMS], T &first) {
    Down(in, out);
    first = storage.items[0];
  }

private:
  TempStorage &storage;
  int thread;

  __device__ __forceinline__ void share(T item) {
    storage.items[thread] = item;
    __syncthreads();
  }
};
}
#include <offload_names_end.h>
