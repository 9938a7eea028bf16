/* clang's gpuintrin.h for the executor: a block is a group, a wave has one lane. */
#ifndef __GPUINTRIN_H
#define __GPUINTRIN_H

#include <stdint.h>

#define __gpu_private
#define __gpu_global
#define __gpu_constant
#define __gpu_generic
/* One group runs at a time: what it shares is a variable. */
#define __gpu_local
#define __gpu_kernel

#define __GPU_X_DIM 0
#define __GPU_Y_DIM 1
#define __GPU_Z_DIM 2

#ifdef __cplusplus
extern "C" {
#endif

uint64_t executor_local_id(uint32_t);
uint64_t executor_group_id(uint32_t);
uint64_t executor_local_size(uint32_t);
uint64_t executor_num_groups(uint32_t);
void executor_barrier(void);

#define EXECUTOR_PLACE(NAME, FUNCTION)                                                              \
  static inline uint32_t __gpu_##NAME(int dimension) { return (uint32_t)FUNCTION((uint32_t)dimension); } \
  static inline uint32_t __gpu_##NAME##_x(void) { return __gpu_##NAME(0); }                         \
  static inline uint32_t __gpu_##NAME##_y(void) { return __gpu_##NAME(1); }                         \
  static inline uint32_t __gpu_##NAME##_z(void) { return __gpu_##NAME(2); }
EXECUTOR_PLACE(thread_id, executor_local_id)
EXECUTOR_PLACE(block_id, executor_group_id)
EXECUTOR_PLACE(num_threads, executor_local_size)
EXECUTOR_PLACE(num_blocks, executor_num_groups)
#undef EXECUTOR_PLACE

static inline void __gpu_sync_threads(void) { executor_barrier(); }
static inline void __gpu_sync_lane(uint64_t mask) { (void)mask; }
static inline uint32_t __gpu_num_lanes(void) { return 1; }
static inline uint32_t __gpu_lane_id(void) { return 0; }
static inline uint64_t __gpu_lane_mask(void) { return 1; }
static inline uint64_t __gpu_ballot(uint64_t mask, bool x) { return x ? mask & 1 : 0; }
static inline uint64_t __gpu_first_lane_id(uint64_t mask) { return (void)mask, 0; }
static inline bool __gpu_is_first_in_lane(uint64_t mask) { return (void)mask, true; }
static inline uint32_t __gpu_read_first_lane_u32(uint64_t mask, uint32_t x) { return (void)mask, x; }
static inline uint64_t __gpu_read_first_lane_u64(uint64_t mask, uint64_t x) { return (void)mask, x; }
static inline uint32_t __gpu_lane_sum_u32(uint64_t mask, uint32_t x) { return (void)mask, x; }
static inline uint64_t __gpu_lane_sum_u64(uint64_t mask, uint64_t x) { return (void)mask, x; }
static inline uint32_t __gpu_lane_scan_u32(uint64_t mask, uint32_t x) { return (void)mask, x; }
static inline uint64_t __gpu_lane_scan_u64(uint64_t mask, uint64_t x) { return (void)mask, x; }
static inline uint32_t __gpu_shuffle_idx_u32(uint64_t mask, uint32_t lane, uint32_t x, uint32_t width) {
  return (void)mask, (void)lane, (void)width, x;
}

#ifdef __cplusplus
}
#endif

#undef EXECUTOR_PLACE
#endif
