
// The layer of AMD: places, barriers, lanes of a warp, atomic functions, memory. clang compiles it as HIP C++.
#define __managed__ __attribute__((managed))
#define __grid_constant__
#define __launch_bounds__(most, ...) __attribute__((amdgpu_flat_work_group_size(1, most)))

// Hidden arguments of code object version 5:
// https://llvm.org/docs/AMDGPUUsage.html#amdgpu-amdhsa-code-object-kernel-argument-metadata-map-table-v5
typedef const __attribute__((address_space(4))) char *__offload_hidden;
__OFFLOAD_FN unsigned int __offload_blocks(int d) {
  __offload_hidden hidden = (__offload_hidden)__builtin_amdgcn_implicitarg_ptr();
  return ((const __attribute__((address_space(4))) unsigned int *)hidden)[d];
}
__OFFLOAD_FN unsigned int __offload_threads(int d) {
  __offload_hidden hidden = (__offload_hidden)__builtin_amdgcn_implicitarg_ptr();
  return ((const __attribute__((address_space(4))) unsigned short *)(hidden + 12))[d];
}
#define __OFFLOAD_COORDINATE(FIELD, VALUE) \
  __declspec(property(get = __get_##FIELD)) unsigned int FIELD; \
  static __device__ __forceinline__ unsigned int __get_##FIELD() { return VALUE; }
#define __OFFLOAD_COORDINATES(NAME, X, Y, Z) \
  struct __offload_##NAME { \
    __OFFLOAD_COORDINATE(x, X) __OFFLOAD_COORDINATE(y, Y) __OFFLOAD_COORDINATE(z, Z) \
    __device__ __forceinline__ operator dim3() const { return dim3(X, Y, Z); } \
    __device__ __forceinline__ operator uint3() const { return uint3{X, Y, Z}; } \
  }; \
  extern const __device__ __attribute__((weak)) __offload_##NAME NAME;
__OFFLOAD_COORDINATES(threadIdx, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(),
                      __builtin_amdgcn_workitem_id_z())
__OFFLOAD_COORDINATES(blockIdx, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(),
                      __builtin_amdgcn_workgroup_id_z())
__OFFLOAD_COORDINATES(blockDim, __offload_threads(0), __offload_threads(1), __offload_threads(2))
__OFFLOAD_COORDINATES(gridDim, __offload_blocks(0), __offload_blocks(1), __offload_blocks(2))
#undef __OFFLOAD_COORDINATES
#undef __OFFLOAD_COORDINATE

__OFFLOAD_FN void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
__OFFLOAD_FN void __threadfence_block() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
__OFFLOAD_FN void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
__OFFLOAD_FN void __threadfence_system() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }
__OFFLOAD_FN void __trap() { __builtin_trap(); }
__OFFLOAD_FN void __nanosleep(unsigned int) { __builtin_amdgcn_s_sleep(1); }
__OFFLOAD_FN long long clock64() { return (long long)__builtin_readcyclecounter(); }

// A warp is 32 lanes: a wave of 64 has two, each of which sees its own half alone.
__OFFLOAD_FN unsigned int __offload_wave_lane() {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}
__OFFLOAD_FN unsigned int __offload_lane() { return __offload_wave_lane() % 32; }
__OFFLOAD_FN unsigned int __offload_lanes_before() { return (1u << __offload_lane()) - 1; }
// The lanes of this warp that come here together and have `v` set.
__OFFLOAD_FN unsigned int __offload_ballot(unsigned int, bool v) {
  return (unsigned int)(__builtin_amdgcn_ballot_w64(v) >> (__offload_wave_lane() & 32));
}
// The word of another lane of this warp; of one that does not come here it is 0.
typedef unsigned int __offload_lane_word;
__OFFLOAD_FN __offload_lane_word __offload_exchange(unsigned int, __offload_lane_word v, unsigned int lane) {
  unsigned int of_wave = (__offload_wave_lane() & 32) + lane % 32;
  return (unsigned int)__builtin_amdgcn_ds_bpermute((int)(of_wave * 4), (int)v);
}
__OFFLOAD_FN void __offload_warp_barrier(unsigned int) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

__OFFLOAD_FN unsigned int __offload_atomic_increment(unsigned int *p, unsigned int limit) {
  return __builtin_amdgcn_atomic_inc32(p, limit, __ATOMIC_RELAXED, "agent");
}
__OFFLOAD_FN unsigned int __offload_atomic_decrement(unsigned int *p, unsigned int limit) {
  return __builtin_amdgcn_atomic_dec32(p, limit, __ATOMIC_RELAXED, "agent");
}
__OFFLOAD_FN unsigned int __offload_atomic_increment_system(unsigned int *p, unsigned int limit) {
  return __builtin_amdgcn_atomic_inc32(p, limit, __ATOMIC_RELAXED, "");
}
__OFFLOAD_FN unsigned int __offload_atomic_decrement_system(unsigned int *p, unsigned int limit) {
  return __builtin_amdgcn_atomic_dec32(p, limit, __ATOMIC_RELAXED, "");
}

__OFFLOAD_FN unsigned int __isShared(const void *p) {
  return __builtin_amdgcn_is_shared((const __attribute__((address_space(0))) void *)p);
}
__OFFLOAD_FN unsigned int __isLocal(const void *p) {
  return __builtin_amdgcn_is_private((const __attribute__((address_space(0))) void *)p);
}
// Constant memory is a part of it.
__OFFLOAD_FN unsigned int __isGlobal(const void *p) { return !__isShared(p) && !__isLocal(p); }
__OFFLOAD_FN size_t __cvta_generic_to_global(const void *p) { return (size_t)p; }
__OFFLOAD_FN void *__cvta_global_to_generic(size_t p) { return (void *)p; }
__OFFLOAD_FN size_t __cvta_generic_to_shared(const void *p) {
  return (unsigned int)(const __attribute__((address_space(3))) void *)p;
}
__OFFLOAD_FN void *__cvta_shared_to_generic(size_t p) {
  return (void *)(__attribute__((address_space(3))) void *)(unsigned int)p;
}

// Processors with a sum of four products: https://llvm.org/docs/AMDGPUUsage.html#processors
#if defined(__GFX11__) || defined(__gfx1200__) || defined(__gfx1201__)
#define __OFFLOAD_DP4A(A, B, C) __builtin_amdgcn_sudot4(true, A, true, B, C, false)
#define __OFFLOAD_UDP4A(A, B, C) __builtin_amdgcn_udot4(A, B, C, false)
#elif defined(__gfx906__) || defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx942__) || \
    defined(__gfx950__) || defined(__gfx1011__) || defined(__gfx1012__) || defined(__gfx1030__) || \
    defined(__gfx1031__) || defined(__gfx1032__) || defined(__gfx1033__) || defined(__gfx1034__) || \
    defined(__gfx1035__) || defined(__gfx1036__)
#define __OFFLOAD_DP4A(A, B, C) __builtin_amdgcn_sdot4(A, B, C, false)
#define __OFFLOAD_UDP4A(A, B, C) __builtin_amdgcn_udot4(A, B, C, false)
#endif

// Functions of AMD's library, which clang's mathematics calls, are in cuda_ocml.cl.
