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
  // Threads that have arrived go on until they wait.
  struct arrival_token {};
  static __OFFLOAD_FN arrival_token barrier_arrive() { return {}; }
  static __OFFLOAD_FN void barrier_wait(arrival_token &&) { __syncthreads(); }
};
static __OFFLOAD_FN thread_block this_thread_block() { return {}; }

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
#ifdef __OFFLOAD_TARGET_HOST
// Without a definition: blocks of the CPU run one after another.
extern "C" __device__ void __offload_lacks_barriers_of_the_grid();
static __OFFLOAD_FN void __offload_wait_grid() { __offload_lacks_barriers_of_the_grid(); }
#else
// A barrier of one grid at a time: another that finds it taken waits for its turn.
struct __offload_grid_barrier {
  unsigned long long owner;
  unsigned int arrived, generation;
};
static __device__ __offload_grid_barrier __offload_grid_barriers[64];
#ifdef __NVPTX__
static __OFFLOAD_FN unsigned long long __offload_grid() {
  unsigned long long id;
  asm volatile("mov.u64 %0, %%gridid;" : "=l"(id));
  return id + 1;
}
#elif defined(__AMDGCN__)
// clang has no built-in function for it.
extern "C" __device__ unsigned long long __offload_dispatch_id() __asm__("llvm.amdgcn.dispatch.id");
// The packet's address is unique among queues, the dispatch number among reuses of a queue slot.
static __OFFLOAD_FN unsigned long long __offload_grid() {
  return (unsigned long long)__builtin_amdgcn_dispatch_ptr() | __offload_dispatch_id() << 48;
}
#else
// Where clang only looks for kernels.
static __OFFLOAD_FN unsigned long long __offload_grid() { return 1; }
#endif
// One thread of each block waits for the others'.
static __OFFLOAD_FN void __offload_wait_grid() {
  __syncthreads();
  if (thread_block::thread_rank() == 0) {
    unsigned long long grid = __offload_grid();
    __offload_grid_barrier &barrier = __offload_grid_barriers[(grid ^ grid >> 6 ^ grid >> 48) % 64];
    unsigned long long owner;
    while ((owner = atomicCAS(&barrier.owner, 0ull, grid)) != 0 && owner != grid) {
    }
    unsigned int generation = *(volatile unsigned int *)&barrier.generation;
    __threadfence();
    if (atomicAdd(&barrier.arrived, 1u) == gridDim.x * gridDim.y * gridDim.z - 1) {
      *(volatile unsigned int *)&barrier.arrived = 0;
      __threadfence();
      atomicExch(&barrier.owner, 0ull);
      __threadfence();
      atomicAdd(&barrier.generation, 1u);
    } else {
      while (*(volatile unsigned int *)&barrier.generation == generation) {
      }
    }
    __threadfence();
  }
  __syncthreads();
}
#endif

// All blocks, which a cooperative launch keeps resident together.
class grid_group {
public:
  static __OFFLOAD_FN bool is_valid() { return true; }
  static __OFFLOAD_FN void sync() { __offload_wait_grid(); }
  static __OFFLOAD_FN unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
  static __OFFLOAD_FN unsigned long long block_rank() {
    return blockIdx.x + 1ull * gridDim.x * (blockIdx.y + 1ull * gridDim.y * blockIdx.z);
  }
  static __OFFLOAD_FN unsigned long long num_threads() { return num_blocks() * thread_block::num_threads(); }
  static __OFFLOAD_FN unsigned long long size() { return num_threads(); }
  static __OFFLOAD_FN unsigned long long thread_rank() {
    return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
  }
  static __OFFLOAD_FN dim3 dim_blocks() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  static __OFFLOAD_FN dim3 group_dim() { return dim_blocks(); }
  static __OFFLOAD_FN dim3 block_index() { return thread_block::group_index(); }
};
static __OFFLOAD_FN grid_group this_grid() { return {}; }
#endif

// A shuffle of `v`: of structures by their words.
template <typename T, typename Shuffle> static __OFFLOAD_FN T __offload_shuffled(T v, Shuffle shuffle) {
  if constexpr (__is_class(T) && sizeof(T) % 4 == 0) {
    struct Words {
      unsigned int words[sizeof(T) / 4];
    };
    Words parts = __builtin_bit_cast(Words, v);
    for (unsigned int i = 0; i < sizeof(T) / 4; i++)
      parts.words[i] = shuffle(parts.words[i]);
    return __builtin_bit_cast(T, parts);
  } else {
    return shuffle(v);
  }
}

// Lanes of one warp, by their mask.
class __offload_lanes {
protected:
  unsigned int mask;
  __OFFLOAD_FN __offload_lanes(unsigned int mask) : mask(mask) {}

public:
  __OFFLOAD_FN void sync() const { __syncwarp(mask); }
  __OFFLOAD_FN int any(int predicate) const { return __any_sync(mask, predicate); }
  __OFFLOAD_FN int all(int predicate) const { return __all_sync(mask, predicate); }
  __OFFLOAD_FN unsigned int __offload_mask() const { return mask; }
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
  template <typename T> __OFFLOAD_FN T shfl(T v, int rank) const {
    return __offload_shuffled(v, [=](auto part) { return __shfl_sync(mask, part, rank, SIZE); });
  }
  template <typename T> __OFFLOAD_FN T shfl_up(T v, unsigned int by) const {
    return __offload_shuffled(v, [=](auto part) { return __shfl_up_sync(mask, part, by, SIZE); });
  }
  template <typename T> __OFFLOAD_FN T shfl_down(T v, unsigned int by) const {
    return __offload_shuffled(v, [=](auto part) { return __shfl_down_sync(mask, part, by, SIZE); });
  }
  template <typename T> __OFFLOAD_FN T shfl_xor(T v, unsigned int lanes) const {
    return __offload_shuffled(v, [=](auto part) { return __shfl_xor_sync(mask, part, lanes, SIZE); });
  }
  __OFFLOAD_FN unsigned int ballot(int predicate) const { return (__ballot_sync(mask, predicate) & mask) >> first(); }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
  template <typename T> __OFFLOAD_FN unsigned int match_any(T v) const { return __match_any_sync(mask, v) >> first(); }
  template <typename T> __OFFLOAD_FN unsigned int match_all(T v, int &is_same) const {
    return __match_all_sync(mask, v, &is_same) >> first();
  }
#endif
};

// Any lanes of a warp. Their ranks are in the order of lanes.
class coalesced_group : public __offload_lanes {
  unsigned int rank_of_group, count_of_groups;

  // The lane of a rank; that of this thread where there is none.
  __OFFLOAD_FN int lane_of(unsigned int rank) const {
    return rank == 0 ? __ffs(mask) - 1 : rank < num_threads() ? __fns(mask, 0, rank + 1) : __offload_lane();
  }
  // Of the bits of lanes those of ranks.
  __OFFLOAD_FN unsigned int by_rank(unsigned int lanes) const {
    unsigned int ranks = 0;
    unsigned int rank = 0;
    for (unsigned int left = mask; left != 0; left &= left - 1)
      ranks |= (lanes >> (__ffs(left) - 1) & 1) << rank++;
    return ranks;
  }

public:
  __OFFLOAD_FN coalesced_group(unsigned int mask, unsigned int rank = 0, unsigned int count = 1)
      : __offload_lanes(mask), rank_of_group(rank), count_of_groups(count) {}
  __OFFLOAD_FN unsigned int num_threads() const { return __popc(mask); }
  __OFFLOAD_FN unsigned int size() const { return num_threads(); }
  __OFFLOAD_FN unsigned int thread_rank() const { return __popc(mask & __offload_lanes_before()); }
  // Of the groups that a partition made.
  __OFFLOAD_FN unsigned int meta_group_rank() const { return rank_of_group; }
  __OFFLOAD_FN unsigned int meta_group_size() const { return count_of_groups; }
  template <typename T> __OFFLOAD_FN T shfl(T v, unsigned int rank) const {
    int lane = lane_of(rank);
    return __offload_shuffled(v, [=](auto part) { return __shfl_sync(mask, part, lane); });
  }
  template <typename T> __OFFLOAD_FN T shfl_up(T v, unsigned int by) const {
    unsigned int rank = thread_rank();
    return shfl(v, rank < by ? rank : rank - by);
  }
  template <typename T> __OFFLOAD_FN T shfl_down(T v, unsigned int by) const {
    unsigned int rank = thread_rank();
    return shfl(v, rank + by < num_threads() ? rank + by : rank);
  }
  __OFFLOAD_FN unsigned int ballot(int predicate) const { return by_rank(__ballot_sync(mask, predicate)); }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
  template <typename T> __OFFLOAD_FN unsigned int match_any(T v) const { return by_rank(__match_any_sync(mask, v)); }
  template <typename T> __OFFLOAD_FN unsigned int match_all(T v, int &is_same) const {
    return by_rank(__match_all_sync(mask, v, &is_same));
  }
#endif
};
static __OFFLOAD_FN coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

// A group of any kind: a block, or lanes of a warp.
class thread_group {
  unsigned int mask;
  bool is_block;

public:
  __OFFLOAD_FN thread_group(const thread_block &) : mask(0), is_block(true) {}
  __OFFLOAD_FN thread_group(const __offload_lanes &lanes) : mask(lanes.__offload_mask()), is_block(false) {}
  __OFFLOAD_FN void sync() const {
    if (is_block)
      __syncthreads();
    else
      __syncwarp(mask);
  }
  __OFFLOAD_FN unsigned int num_threads() const { return is_block ? thread_block::num_threads() : __popc(mask); }
  __OFFLOAD_FN unsigned int size() const { return num_threads(); }
  __OFFLOAD_FN unsigned int thread_rank() const {
    return is_block ? thread_block::thread_rank() : __popc(mask & __offload_lanes_before());
  }
  __OFFLOAD_FN bool __offload_is_block() const { return is_block; }
  __OFFLOAD_FN unsigned int __offload_mask() const { return mask; }
};
static __OFFLOAD_FN thread_block_tile<1> this_thread() { return {}; }

// Parts of `size` threads, a power of two and 32 at most, which follow each other.
static __OFFLOAD_FN coalesced_group __offload_part(unsigned int mask, unsigned int size) {
  unsigned int rank = __popc(mask & __offload_lanes_before());
  unsigned int part = 0;
  unsigned int other = 0;
  for (unsigned int left = mask; left != 0; left &= left - 1) {
    if (other / size == rank / size)
      part |= left & -left;
    other++;
  }
  return coalesced_group(part, rank / size, (other + size - 1) / size);
}
static __OFFLOAD_FN coalesced_group tiled_partition(const coalesced_group &parent, unsigned int size) {
  return __offload_part(parent.__offload_mask(), size);
}
static __OFFLOAD_FN thread_group tiled_partition(const thread_group &parent, unsigned int size) {
  if (!parent.__offload_is_block())
    return __offload_part(parent.__offload_mask(), size);
  unsigned int lanes = size >= 32 ? ~0u : (1u << size) - 1;
  return coalesced_group(lanes << (thread_block::thread_rank() % 32 / size * size));
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
// The threads of a group with the same label.
template <typename Group, typename T> static __OFFLOAD_FN coalesced_group labeled_partition(const Group &group, T label) {
  unsigned int left = group.__offload_mask();
  unsigned int own = 0;
  unsigned int rank = 0;
  unsigned int count = 0;
  while (left != 0) {
    T first = __shfl_sync(group.__offload_mask(), label, __ffs(left) - 1);
    unsigned int same = __ballot_sync(group.__offload_mask(), first == label);
    if (first == label) {
      own = same;
      rank = count;
    }
    left &= ~same;
    count++;
  }
  return coalesced_group(own, rank, count);
}
template <typename Group> static __OFFLOAD_FN coalesced_group binary_partition(const Group &group, bool predicate) {
  unsigned int set = __ballot_sync(group.__offload_mask(), predicate);
  unsigned int own = predicate ? set : group.__offload_mask() & ~set;
  unsigned int count = set == 0 || set == group.__offload_mask() ? 1 : 2;
  return coalesced_group(own, count == 2 && predicate ? 1 : 0, count);
}
#endif

template <unsigned int SIZE, typename Parent>
static __OFFLOAD_FN thread_block_tile<SIZE, Parent> tiled_partition(const Parent &) {
  return {};
}
template <typename Group> static __OFFLOAD_FN void sync(const Group &group) { group.sync(); }
template <typename Group> static __OFFLOAD_FN unsigned int thread_rank(const Group &group) { return group.thread_rank(); }
template <typename Group> static __OFFLOAD_FN unsigned int group_size(const Group &group) { return group.num_threads(); }
// By one thread of the group.
template <typename Group, typename F, typename... A>
static __OFFLOAD_FN void invoke_one(const Group &group, F &&function, A &&...arguments) {
  if (group.thread_rank() == 0)
    function(static_cast<A &&>(arguments)...);
}
#undef __OFFLOAD_FN
}
#include <offload_names_end.h>
