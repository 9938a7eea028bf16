// Operators of reductions and scans: https://nvidia.github.io/cccl/cub/
#pragma once
namespace cub {
struct Sum {
  template <typename T> __host__ __device__ T operator()(const T &a, const T &b) const { return a + b; }
};
struct Max {
  template <typename T> __host__ __device__ T operator()(const T &a, const T &b) const { return a < b ? b : a; }
};
struct Min {
  template <typename T> __host__ __device__ T operator()(const T &a, const T &b) const { return b < a ? b : a; }
};

// A value of any size from another lane.
template <typename T> static __device__ __forceinline__ T __offload_from_lane(unsigned int mask, T v, int lane) {
  enum { WORDS = (sizeof(T) + 3) / 4 };
  unsigned int words[WORDS] = {};
  __builtin_memcpy(words, &v, sizeof(T));
#pragma unroll
  for (int i = 0; i < WORDS; i++)
    words[i] = __shfl_sync(mask, words[i], lane);
  __builtin_memcpy(&v, words, sizeof(T));
  return v;
}
static __device__ __forceinline__ int __offload_lane() { return __nvvm_read_ptx_sreg_laneid(); }
}
