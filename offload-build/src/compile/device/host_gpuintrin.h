/* clang's gpuintrin.h (https://clang.llvm.org/docs/LanguageExtensions.html) for the target `host`: a block is a work-group
 * of the launch, a thread a work-item, and a wave has one lane.
 *
 * Kinds of memory have the numbers that SPIR-V gives them, so that functions have the names that they have there; what
 * is made of the IR takes them away.
 */
#ifndef __GPUINTRIN_H
#define __GPUINTRIN_H

#include <stdint.h>

#if !defined(__cplusplus)
_Pragma("push_macro(\"bool\")")
#define bool _Bool
#endif

#define __gpu_private __attribute__((address_space(0)))
#define __gpu_global __attribute__((address_space(1)))
#define __gpu_constant __attribute__((address_space(2)))
#define __gpu_local __attribute__((address_space(3)))
#define __gpu_generic __attribute__((address_space(4)))
#define __gpu_kernel __attribute__((visibility("hidden")))

#define __GPU_X_DIM 0
#define __GPU_Y_DIM 1
#define __GPU_Z_DIM 2

#if defined(__cplusplus)
extern "C" {
#endif
/* Those of host_shim.c, by the names that OpenCL C has for them. */
uint64_t __offload_num_groups(uint32_t) __asm__("_Z14get_num_groupsj");
uint64_t __offload_group_id(uint32_t) __asm__("_Z12get_group_idj");
uint64_t __offload_local_size(uint32_t) __asm__("_Z14get_local_sizej");
uint64_t __offload_local_id(uint32_t) __asm__("_Z12get_local_idj");
__attribute__((convergent)) void __offload_barrier(uint32_t) __asm__("_Z7barrierj");
void __assert_fail(const char *, const char *, unsigned int, const char *);
#if defined(__cplusplus)
}
#endif

#define __OFFLOAD_FN static __inline__ __attribute__((always_inline, unused))

#define __OFFLOAD_PLACE(NAME, FUNCTION, OTHER)                                                \
  __OFFLOAD_FN uint32_t __gpu_##NAME##_x(void) { return (uint32_t)__offload_##FUNCTION(0); } \
  __OFFLOAD_FN uint32_t __gpu_##NAME##_y(void) { return (uint32_t)__offload_##FUNCTION(1); } \
  __OFFLOAD_FN uint32_t __gpu_##NAME##_z(void) { return (uint32_t)__offload_##FUNCTION(2); } \
  __OFFLOAD_FN uint32_t __gpu_##NAME(int __dim) {                                             \
    switch (__dim) {                                                                          \
    case 0: return __gpu_##NAME##_x();                                                        \
    case 1: return __gpu_##NAME##_y();                                                        \
    case 2: return __gpu_##NAME##_z();                                                        \
    default: return OTHER;                                                                    \
    }                                                                                         \
  }
__OFFLOAD_PLACE(num_blocks, num_groups, 1)
__OFFLOAD_PLACE(block_id, group_id, 0)
__OFFLOAD_PLACE(num_threads, local_size, 1)
__OFFLOAD_PLACE(thread_id, local_id, 0)
#undef __OFFLOAD_PLACE

/* For local and for global memory, as on GPUs. */
__OFFLOAD_FN void __gpu_sync_threads(void) { __offload_barrier(3); }
__OFFLOAD_FN void __gpu_sync_lane(uint64_t __lane_mask) { (void)__lane_mask; }

__OFFLOAD_FN uint32_t __gpu_num_lanes(void) { return 1; }
__OFFLOAD_FN uint32_t __gpu_lane_id(void) { return 0; }
__OFFLOAD_FN uint64_t __gpu_lane_mask(void) { return 1; }
__OFFLOAD_FN uint64_t __gpu_ballot(uint64_t __lane_mask, bool __x) { return __lane_mask & (uint64_t)__x; }
__OFFLOAD_FN uint64_t __gpu_first_lane_id(uint64_t __lane_mask) {
  return (uint64_t)(__builtin_ffsll((long long)__lane_mask) - 1);
}
__OFFLOAD_FN bool __gpu_is_first_in_lane(uint64_t __lane_mask) {
  return __gpu_lane_id() == __gpu_first_lane_id(__lane_mask);
}

/* What a wave of one lane exchanges is its own. */
#define __OFFLOAD_LANES(TYPE, SUFFIX)                                                                       \
  __OFFLOAD_FN TYPE __gpu_read_first_lane_##SUFFIX(uint64_t __lane_mask, TYPE __x) {                        \
    return (void)__lane_mask, __x;                                                                          \
  }                                                                                                         \
  __OFFLOAD_FN TYPE __gpu_shuffle_idx_##SUFFIX(uint64_t __lane_mask, uint32_t __idx, TYPE __x, uint32_t __width) { \
    return (void)__lane_mask, (void)__idx, (void)__width, __x;                                              \
  }                                                                                                         \
  __OFFLOAD_FN TYPE __gpu_lane_scan_##SUFFIX(uint64_t __lane_mask, TYPE __x) { return (void)__lane_mask, __x; } \
  __OFFLOAD_FN TYPE __gpu_lane_sum_##SUFFIX(uint64_t __lane_mask, TYPE __x) { return (void)__lane_mask, __x; }
__OFFLOAD_LANES(uint32_t, u32)
__OFFLOAD_LANES(uint64_t, u64)
__OFFLOAD_LANES(float, f32)
__OFFLOAD_LANES(double, f64)
#undef __OFFLOAD_LANES

#define __OFFLOAD_MATCH(TYPE, SUFFIX)                                                                              \
  __OFFLOAD_FN uint64_t __gpu_match_any_##SUFFIX(uint64_t __lane_mask, TYPE __x) { return (void)__x, __lane_mask & 1; } \
  __OFFLOAD_FN uint64_t __gpu_match_all_##SUFFIX(uint64_t __lane_mask, TYPE __x) { return (void)__x, __lane_mask & 1; }
__OFFLOAD_MATCH(uint32_t, u32)
__OFFLOAD_MATCH(uint64_t, u64)
#undef __OFFLOAD_MATCH

/* As for SPIR-V: nobody knows. */
__OFFLOAD_FN bool __gpu_is_ptr_local(void *__ptr) { return (void)__ptr, 0; }
__OFFLOAD_FN bool __gpu_is_ptr_private(void *__ptr) { return (void)__ptr, 0; }
/* A work-item has no way to end alone: the launch fails, and the program goes on. */
__OFFLOAD_FN __attribute__((noreturn)) void __gpu_exit(void) {
  __assert_fail("__gpu_exit() is not called", "gpuintrin.h", 0, "__gpu_exit");
  __builtin_unreachable();
}
__OFFLOAD_FN void __gpu_thread_suspend(void) {}

#undef __OFFLOAD_FN

#if !defined(__cplusplus)
_Pragma("pop_macro(\"bool\")")
#endif

#endif
