// Types that CUB's classes share: https://nvidia.github.io/cccl/cub/
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <offload_names_begin.h>
namespace cub {
struct NullType {};
template <typename KEY, typename VALUE> struct KeyValuePair {
  typedef KEY Key;
  typedef VALUE Value;
  Key key;
  Value value;
  KeyValuePair() = default;
  __host__ __device__ KeyValuePair(const Key &key, const Value &value) : key(key), value(value) {}
  __host__ __device__ bool operator!=(const KeyValuePair &other) const {
    return value != other.value || key != other.key;
  }
};
// Lanes, warps and shuffles within `THREADS` lanes: https://nvidia.github.io/cccl/cub/api/group__util__ptx.html
static __device__ __forceinline__ unsigned int LaneId() { return __offload_lane(); }
static __device__ __forceinline__ int RowMajorTid(int x, int y, int) {
  return (threadIdx.z * y + threadIdx.y) * x + threadIdx.x;
}
static __device__ __forceinline__ unsigned int WarpId() { return RowMajorTid(blockDim.x, blockDim.y, 0) / 32; }
template <int THREADS, typename T>
static __device__ __forceinline__ T ShuffleUp(T v, int by, int first, unsigned int mask) {
  int from = (int)__offload_lane() - by;
  return __offload_from_lane(mask, v, from < first ? (int)__offload_lane() : from);
}
template <int THREADS, typename T>
static __device__ __forceinline__ T ShuffleDown(T v, int by, int last, unsigned int mask) {
  int from = (int)__offload_lane() + by;
  return __offload_from_lane(mask, v, from > last ? (int)__offload_lane() : from);
}
template <int THREADS, typename T> static __device__ __forceinline__ T ShuffleIndex(T v, int lane, unsigned int mask) {
  return __offload_from_lane(mask, v, (int)__offload_lane() / THREADS * THREADS + lane % THREADS);
}
// An array in shared memory, whose variables have no constructors.
template <typename T, int COUNT> struct __offload_array {
  alignas(T) unsigned char bytes[sizeof(T) * COUNT];
  __device__ __forceinline__ T &operator[](int i) { return reinterpret_cast<T *>(bytes)[i]; }
};
template <bool CONDITION, typename YES, typename NO> struct __offload_choice { typedef YES Type; };
template <typename YES, typename NO> struct __offload_choice<false, YES, NO> { typedef NO Type; };
// The place of a thread in a block of X * Y * Z.
template <int X, int Y> __device__ __forceinline__ int __offload_rank() {
  return threadIdx.x + X * (threadIdx.y + Y * threadIdx.z);
}
// Storage of a class that was made without any.
template <typename STORAGE> __device__ __forceinline__ STORAGE &__offload_own_storage() {
  __shared__ STORAGE storage;
  return storage;
}
}
#include <offload_names_end.h>
