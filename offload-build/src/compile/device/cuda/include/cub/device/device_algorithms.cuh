// Algorithms over the whole device, which host code starts. Host code is checked and left out, and what they launch is not in
// the image. Each has a definition, as types without a name need one, and calls a function of its name that has none:
// https://nvidia.github.io/cccl/cub/api/device.html
#pragma once
#include <offload_names_begin.h>
namespace cub {
struct __offload_lacks {};
// Of any arguments behind the size of the temporary storage.
#define __OFFLOAD_CUB(NAME) \
  __host__ static cudaError_t NAME(__offload_lacks); \
  template <typename... A> __host__ static cudaError_t NAME(void *storage, size_t &size, A &&...arguments) { \
    return NAME(__offload_lacks()); \
  }
struct DeviceReduce {
  __OFFLOAD_CUB(Reduce) __OFFLOAD_CUB(Sum) __OFFLOAD_CUB(Min) __OFFLOAD_CUB(Max) __OFFLOAD_CUB(ArgMin)
  __OFFLOAD_CUB(ArgMax) __OFFLOAD_CUB(ReduceByKey) __OFFLOAD_CUB(TransformReduce)
};
struct DeviceSegmentedReduce {
  __OFFLOAD_CUB(Reduce) __OFFLOAD_CUB(Sum) __OFFLOAD_CUB(Min) __OFFLOAD_CUB(Max) __OFFLOAD_CUB(ArgMin)
  __OFFLOAD_CUB(ArgMax)
};
struct DeviceScan {
  __OFFLOAD_CUB(ExclusiveSum) __OFFLOAD_CUB(InclusiveSum) __OFFLOAD_CUB(ExclusiveScan) __OFFLOAD_CUB(InclusiveScan)
  __OFFLOAD_CUB(ExclusiveSumByKey) __OFFLOAD_CUB(InclusiveSumByKey) __OFFLOAD_CUB(ExclusiveScanByKey)
  __OFFLOAD_CUB(InclusiveScanByKey)
};
#define __OFFLOAD_CUB_SORT \
  __OFFLOAD_CUB(SortPairs) __OFFLOAD_CUB(SortPairsDescending) __OFFLOAD_CUB(SortKeys) __OFFLOAD_CUB(SortKeysDescending)
struct DeviceRadixSort { __OFFLOAD_CUB_SORT };
struct DeviceSegmentedRadixSort { __OFFLOAD_CUB_SORT };
struct DeviceSegmentedSort {
  __OFFLOAD_CUB_SORT
  __OFFLOAD_CUB(StableSortPairs) __OFFLOAD_CUB(StableSortPairsDescending) __OFFLOAD_CUB(StableSortKeys)
  __OFFLOAD_CUB(StableSortKeysDescending)
};
#undef __OFFLOAD_CUB_SORT
struct DeviceMergeSort {
  __OFFLOAD_CUB(SortPairs) __OFFLOAD_CUB(SortPairsCopy) __OFFLOAD_CUB(SortKeys) __OFFLOAD_CUB(SortKeysCopy)
  __OFFLOAD_CUB(StableSortPairs) __OFFLOAD_CUB(StableSortKeys)
};
struct DeviceSelect {
  __OFFLOAD_CUB(Flagged) __OFFLOAD_CUB(If) __OFFLOAD_CUB(Unique) __OFFLOAD_CUB(UniqueByKey)
};
struct DevicePartition { __OFFLOAD_CUB(Flagged) __OFFLOAD_CUB(If) };
struct DeviceRunLengthEncode { __OFFLOAD_CUB(Encode) __OFFLOAD_CUB(NonTrivialRuns) };
struct DeviceHistogram {
  __OFFLOAD_CUB(HistogramEven) __OFFLOAD_CUB(HistogramRange)
  __host__ static cudaError_t MultiHistogramEven(__offload_lacks);
  template <int N, int COUNT, typename... A>
  __host__ static cudaError_t MultiHistogramEven(void *storage, size_t &size, A &&...arguments) {
    return MultiHistogramEven(__offload_lacks());
  }
  __host__ static cudaError_t MultiHistogramRange(__offload_lacks);
  template <int N, int COUNT, typename... A>
  __host__ static cudaError_t MultiHistogramRange(void *storage, size_t &size, A &&...arguments) {
    return MultiHistogramRange(__offload_lacks());
  }
};
#undef __OFFLOAD_CUB
// Two arrays that a sort writes in turns: https://nvidia.github.io/cccl/cub/api/structcub_1_1DoubleBuffer.html
template <typename T> struct DoubleBuffer {
  T *d_buffers[2];
  int selector;
  __host__ __device__ DoubleBuffer() : d_buffers{nullptr, nullptr}, selector(0) {}
  __host__ __device__ DoubleBuffer(T *current, T *alternate) : d_buffers{current, alternate}, selector(0) {}
  __host__ __device__ T *Current() { return d_buffers[selector]; }
  __host__ __device__ T *Alternate() { return d_buffers[selector ^ 1]; }
};
}
#include <offload_names_end.h>
