// Blocks, and tiles of warps: https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cooperative-groups
#pragma once
#include <offload_names_begin.h>
namespace cooperative_groups {
#define __OFFLOAD_FN __device__ __forceinline__
class thread_block {
public:
  static __OFFLOAD_FN void sync() { __syncthreads(); }
  static __OFFLOAD_FN unsigned int thread_rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  static __OFFLOAD_FN unsigned int num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  static __OFFLOAD_FN unsigned int size() { return num_threads(); }
  static __OFFLOAD_FN dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static __OFFLOAD_FN dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static __OFFLOAD_FN dim3 dim_threads() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  static __OFFLOAD_FN dim3 group_dim() { return dim_threads(); }
};
static __OFFLOAD_FN thread_block this_thread_block() { return {}; }

// Lanes of one warp, by their mask.
class __offload_lanes {
protected:
  unsigned int mask;
  __OFFLOAD_FN __offload_lanes(unsigned int mask) : mask(mask) {}

public:
  __OFFLOAD_FN void sync() const { __syncwarp(mask); }
  __OFFLOAD_FN int any(int predicate) const { return __any_sync(mask, predicate); }
  __OFFLOAD_FN int all(int predicate) const { return __all_sync(mask, predicate); }
};

template <unsigned int SIZE, typename Parent = void> class thread_block_tile : public __offload_lanes {
  static_assert(SIZE <= 32 && (SIZE & (SIZE - 1)) == 0, "a tile is a part of a warp");
  static __OFFLOAD_FN unsigned int first() { return thread_block::thread_rank() % 32 / SIZE * SIZE; }

public:
  // One that has forgotten its parent.
  template <typename Other> __OFFLOAD_FN thread_block_tile(const thread_block_tile<SIZE, Other> &) : thread_block_tile() {}
  __OFFLOAD_FN thread_block_tile() : __offload_lanes((SIZE == 32 ? ~0u : (1u << (SIZE % 32)) - 1) << first()) {}
  static __OFFLOAD_FN unsigned int thread_rank() { return thread_block::thread_rank() % SIZE; }
  static __host__ __device__ constexpr unsigned int num_threads() { return SIZE; }
  static __host__ __device__ constexpr unsigned int size() { return SIZE; }
  static __OFFLOAD_FN unsigned int meta_group_rank() { return thread_block::thread_rank() / SIZE; }
  static __OFFLOAD_FN unsigned int meta_group_size() { return (thread_block::num_threads() + SIZE - 1) / SIZE; }
  template <typename T> __OFFLOAD_FN T shfl(T v, int rank) const { return __shfl_sync(mask, v, rank, SIZE); }
  template <typename T> __OFFLOAD_FN T shfl_up(T v, unsigned int by) const { return __shfl_up_sync(mask, v, by, SIZE); }
  template <typename T> __OFFLOAD_FN T shfl_down(T v, unsigned int by) const {
    return __shfl_down_sync(mask, v, by, SIZE);
  }
  template <typename T> __OFFLOAD_FN T shfl_xor(T v, unsigned int lanes) const {
    return __shfl_xor_sync(mask, v, lanes, SIZE);
  }
  __OFFLOAD_FN unsigned int ballot(int predicate) const { return (__ballot_sync(mask, predicate) & mask) >> first(); }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
  template <typename T> __OFFLOAD_FN unsigned int match_any(T v) const { return __match_any_sync(mask, v) >> first(); }
#endif
};

class coalesced_group : public __offload_lanes {
  // The lane of a rank.
  __OFFLOAD_FN int lane_of(unsigned int rank) const { return __fns(mask, 0, rank + 1); }

public:
  __OFFLOAD_FN coalesced_group(unsigned int mask) : __offload_lanes(mask) {}
  __OFFLOAD_FN unsigned int num_threads() const { return __popc(mask); }
  __OFFLOAD_FN unsigned int size() const { return num_threads(); }
  __OFFLOAD_FN unsigned int thread_rank() const { return __popc(mask & __offload_lanes_before()); }
  template <typename T> __OFFLOAD_FN T shfl(T v, unsigned int rank) const {
    return __shfl_sync(mask, v, rank == 0 ? __ffs(mask) - 1 : lane_of(rank));
  }
};
static __OFFLOAD_FN coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <unsigned int SIZE, typename Parent>
static __OFFLOAD_FN thread_block_tile<SIZE, Parent> tiled_partition(const Parent &) {
  return {};
}
template <typename Group> static __OFFLOAD_FN void sync(const Group &group) { group.sync(); }
#undef __OFFLOAD_FN
}
#include <offload_names_end.h>
