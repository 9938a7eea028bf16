// The layer of the CPU: places, barriers, lanes of a warp, atomic functions, memory. clang compiles device code of CUDA
// C++ for the CPU, and work-item functions are scheduled as the threads of a block (host_warps.c).
#define __OFFLOAD_TARGET_HOST 1
#define __managed__ __attribute__((device))
#define __grid_constant__
#define __launch_bounds__(...)

// Functions of host_shim.c and host_warps.c, by the names that OpenCL C has for them where it has them.
extern "C" {
__device__ unsigned long __offload_get_num_groups(unsigned int) __asm__("_Z14get_num_groupsj");
__device__ unsigned long __offload_get_group_id(unsigned int) __asm__("_Z12get_group_idj");
__device__ unsigned long __offload_get_local_size(unsigned int) __asm__("_Z14get_local_sizej");
__device__ unsigned long __offload_get_local_id(unsigned int) __asm__("_Z12get_local_idj");
__device__ unsigned long __offload_get_local_linear_id() __asm__("_Z19get_local_linear_idv");
__device__ __attribute__((convergent)) void __offload_wait_block();
__device__ __attribute__((convergent)) void __offload_wait_warp();
extern __device__ unsigned int __offload_warp_masks[32], __offload_warp_votes;
extern __device__ unsigned int __offload_warp_sent[32], __offload_warp_sent_high[32];
extern __device__ unsigned int __offload_warp_received[32], __offload_warp_received_high[32];
}
#define __OFFLOAD_COORDINATE(FIELD, VALUE) \
  __declspec(property(get = __get_##FIELD)) unsigned int FIELD; \
  static __device__ __forceinline__ unsigned int __get_##FIELD() { return (unsigned int)VALUE; }
#define __OFFLOAD_COORDINATES(NAME, FUNCTION) \
  struct __offload_##NAME { \
    __OFFLOAD_COORDINATE(x, FUNCTION(0)) __OFFLOAD_COORDINATE(y, FUNCTION(1)) __OFFLOAD_COORDINATE(z, FUNCTION(2)) \
    __device__ __forceinline__ operator dim3() const { return dim3(x, y, z); } \
    __device__ __forceinline__ operator uint3() const { return uint3{x, y, z}; } \
  }; \
  extern const __device__ __attribute__((weak)) __offload_##NAME NAME;
__OFFLOAD_COORDINATES(threadIdx, __offload_get_local_id)
__OFFLOAD_COORDINATES(blockIdx, __offload_get_group_id)
__OFFLOAD_COORDINATES(blockDim, __offload_get_local_size)
__OFFLOAD_COORDINATES(gridDim, __offload_get_num_groups)
#undef __OFFLOAD_COORDINATES
#undef __OFFLOAD_COORDINATE

__OFFLOAD_FN void __syncthreads() { __offload_wait_block(); }
__OFFLOAD_FN void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
__OFFLOAD_FN void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
__OFFLOAD_FN void __trap() { __builtin_trap(); }
__OFFLOAD_FN void __nanosleep(unsigned int) {}
__OFFLOAD_FN long long clock64() { return (long long)__builtin_readcyclecounter(); }

// A word of a lane, as wide as any value that a function of warps takes.
typedef unsigned long long __offload_lane_word;
__OFFLOAD_FN unsigned int __offload_lane() { return (unsigned int)__offload_get_local_linear_id() % 32; }
__OFFLOAD_FN unsigned int __offload_lanes_before() { return (1u << __offload_lane()) - 1; }
__OFFLOAD_FN void __offload_warp_barrier(unsigned int mask) {
  __offload_warp_masks[__offload_lane()] = mask;
  __offload_wait_warp();
}
// Threads of a block run on one thread of the CPU. The lanes of a warp come here before any goes on, but for those that take
// another way: sources from before `__syncwarp` count on it.
__OFFLOAD_FN void __threadfence_block() {
  __asm__ volatile("" ::: "memory");
  __offload_warp_barrier(0);
}
// The lanes that come here together and have `v` set: those in `mask`, and others that happen to be here.
__OFFLOAD_FN unsigned int __offload_ballot(unsigned int mask, bool v) {
  __offload_warp_sent[__offload_lane()] = v;
  __offload_warp_barrier(mask);
  return __offload_warp_votes;
}
// Of words with 32 bits the upper half stays in the lane.
__OFFLOAD_FN void __offload_send(unsigned int mask, __offload_lane_word v, bool is_wide) {
  __offload_warp_sent[__offload_lane()] = (unsigned int)v;
  if (is_wide)
    __offload_warp_sent_high[__offload_lane()] = (unsigned int)(v >> 32);
  __offload_warp_barrier(mask);
}
__OFFLOAD_FN __offload_lane_word __offload_received(unsigned int lane, bool is_wide) {
  __offload_lane_word high = is_wide ? __offload_warp_received_high[lane % 32] : 0;
  return high << 32 | __offload_warp_received[lane % 32];
}
// The word of another lane; of one that does not come here it is 0.
__OFFLOAD_FN __offload_lane_word __offload_exchange(unsigned int mask, __offload_lane_word v, unsigned int lane) {
  __offload_send(mask, v, true);
  return __offload_received(lane, true);
}
// With a lane that is computed behind the barrier, so that its number need not be kept.
#define __OFFLOAD_EXCHANGE(TYPE, MASK, V, LANE) \
  (__offload_send(MASK, V, sizeof(TYPE) > 4), __offload_received(LANE, sizeof(TYPE) > 4))

__OFFLOAD_FN unsigned int __offload_atomic_increment(unsigned int *p, unsigned int limit) {
  unsigned int old = __atomic_load_n(p, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(p, &old, old >= limit ? 0 : old + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return old;
}
__OFFLOAD_FN unsigned int __offload_atomic_decrement(unsigned int *p, unsigned int limit) {
  unsigned int old = __atomic_load_n(p, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(p, &old, old == 0 || old > limit ? limit : old - 1, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {
  }
  return old;
}
#define __offload_atomic_increment_system __offload_atomic_increment
#define __offload_atomic_decrement_system __offload_atomic_decrement

// All memory is of one kind.
__OFFLOAD_FN unsigned int __isShared(const void *) { return 0; }
__OFFLOAD_FN unsigned int __isLocal(const void *) { return 0; }
__OFFLOAD_FN unsigned int __isGlobal(const void *) { return 1; }
__OFFLOAD_FN size_t __cvta_generic_to_global(const void *p) { return (size_t)p; }
__OFFLOAD_FN void *__cvta_global_to_generic(size_t p) { return (void *)p; }
__OFFLOAD_FN size_t __cvta_generic_to_shared(const void *p) { return (size_t)p; }
__OFFLOAD_FN void *__cvta_shared_to_generic(size_t p) { return (void *)p; }

// clang's mathematics for HIP, over functions that PoCL's library stands for (cuda_ocml.cl, host_ocml.cl).
extern "C" __device__ float __offload_ldexp_f32(float, int);
extern "C" __device__ double __offload_ldexp_f64(double, int);
// clang's header for HIP declares these until release 22.
extern "C" __device__ __attribute__((pure)) float __ocml_exp2_f32(float);
extern "C" __device__ __attribute__((pure)) float __ocml_log2_f32(float);
// These would become calls of the system's library, which no loop over work-items is vectorised with.
#define __builtin_expf(X) __ocml_exp_f32(X)
#define __builtin_exp2f(X) __ocml_exp2_f32(X)
#define __builtin_exp10f(X) __ocml_exp10_f32(X)
#define __builtin_logf(X) __ocml_log_f32(X)
#define __builtin_log2f(X) __ocml_log2_f32(X)
#define __builtin_log10f(X) __ocml_log10_f32(X)
#define __builtin_ldexpf(X, E) __offload_ldexp_f32(X, E)
#define __builtin_ldexp(X, E) __offload_ldexp_f64(X, E)
#define __builtin_amdgcn_exp2f(X) __ocml_exp2_f32(X)
#define __builtin_amdgcn_logf(X) __ocml_log2_f32(X)
#define __builtin_amdgcn_rsqf(X) __ocml_rsqrt_f32(X)
#define __builtin_amdgcn_rcpf(X) (1 / (X))
#define __builtin_amdgcn_ldexpf(X, E) __offload_ldexp_f32(X, E)
#define __builtin_amdgcn_ldexp(X, E) __offload_ldexp_f64(X, E)
#define __HIP__ 1
