// Histograms of a tile: https://nvidia.github.io/cccl/cub/api/classcub_1_1BlockHistogram.html
#pragma once
#include <offload_names_begin.h>
#include <cub/util_type.cuh>
namespace cub {
enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };

template <typename T, int X, int ITEMS, int BINS, BlockHistogramAlgorithm ALGORITHM = BLOCK_HISTO_SORT, int Y = 1,
          int Z = 1>
class BlockHistogram {
  enum { THREADS = X * Y * Z };

public:
  typedef NullType TempStorage;
  __device__ __forceinline__ BlockHistogram(TempStorage &) : thread(__offload_rank<X, Y>()) {}
  __device__ __forceinline__ BlockHistogram() : thread(__offload_rank<X, Y>()) {}

  // The counters are in shared memory, or in memory of the device.
  template <typename COUNTER> __device__ __forceinline__ void InitHistogram(COUNTER (&histogram)[BINS]) {
    for (int bin = thread; bin < BINS; bin += THREADS)
      histogram[bin] = 0;
  }
  template <typename COUNTER> __device__ __forceinline__ void Composite(T (&items)[ITEMS], COUNTER (&histogram)[BINS]) {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
      atomicAdd(&histogram[items[i]], (COUNTER)1);
    __syncthreads();
  }
  template <typename COUNTER> __device__ __forceinline__ void Histogram(T (&items)[ITEMS], COUNTER (&histogram)[BINS]) {
    InitHistogram(histogram);
    Composite(items, histogram);
  }

private:
  int thread;
};
}
#include <offload_names_end.h>
