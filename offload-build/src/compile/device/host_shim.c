/* The work-item functions of OpenCL C for the target `host`, and what the functions that run a work-group call.
 *
 * Variables named __offload_state_* become thread-local when the module is put together: each thread runs one
 * work-group at a time. Before that, loads of them are known by their names: a loop over the work-items of a group has
 * most of the values in registers.
 *
 * Names in asm are those that clang mangles OpenCL C's overloadable functions to.
 */
typedef unsigned int u32;
typedef unsigned long long u64;

struct offload_group {
  u64 global_offset[3], global_size[3], local_size[3], num_groups[3], group_id[3];
  u64 work_dim;
  void (*print)(void *, const char *, u64);
  void *print_data;
  void *frame;
  u64 enqueued_local_size[3];
};

const u32 __offload_host_abi __attribute__((visibility("default"))) = 2;

struct vec { u64 x, y, z; };
static struct vec __offload_state_global_offset, __offload_state_global_size, __offload_state_local_size,
    __offload_state_num_groups, __offload_state_group_id, __offload_state_local_id, __offload_state_enqueued_local_size;
static u64 __offload_state_work_dim;
static void (*__offload_state_print)(void *, const char *, u64);
static void *__offload_state_print_data;

/* What host_printf.c has formatted and nobody has seen. */
enum { PRINT_CAPACITY = 16384 };
static char __offload_state_print_buffer[PRINT_CAPACITY];
static u32 __offload_state_print_size;

#define INLINE __attribute__((always_inline))
#define FUNCTION(result, name, mangled, parameters) \
  INLINE result name parameters __asm__(mangled);   \
  INLINE result name parameters
#define PICK(vector, dimension, other) \
  ((dimension) == 0 ? (vector).x : (dimension) == 1 ? (vector).y : (dimension) == 2 ? (vector).z : (other))
#define ID(dimension)                                                       \
  (PICK(__offload_state_global_offset, dimension, 0) +                      \
   PICK(__offload_state_group_id, dimension, 0) * PICK(__offload_state_enqueued_local_size, dimension, 0) + \
   PICK(__offload_state_local_id, dimension, 0))

FUNCTION(u32, get_work_dim, "_Z12get_work_dimv", (void)) { return (u32)__offload_state_work_dim; }
FUNCTION(u64, get_global_id, "_Z13get_global_idj", (u32 d)) { return ID(d); }
FUNCTION(u64, get_local_id, "_Z12get_local_idj", (u32 d)) { return PICK(__offload_state_local_id, d, 0); }
FUNCTION(u64, get_group_id, "_Z12get_group_idj", (u32 d)) { return PICK(__offload_state_group_id, d, 0); }
FUNCTION(u64, get_global_size, "_Z15get_global_sizej", (u32 d)) { return PICK(__offload_state_global_size, d, 1); }
FUNCTION(u64, get_local_size, "_Z14get_local_sizej", (u32 d)) { return PICK(__offload_state_local_size, d, 1); }
FUNCTION(u64, get_enqueued_local_size, "_Z23get_enqueued_local_sizej", (u32 d)) {
  return PICK(__offload_state_enqueued_local_size, d, 1);
}
FUNCTION(u64, get_num_groups, "_Z14get_num_groupsj", (u32 d)) { return PICK(__offload_state_num_groups, d, 1); }
FUNCTION(u64, get_global_offset, "_Z17get_global_offsetj", (u32 d)) {
  return PICK(__offload_state_global_offset, d, 0);
}
FUNCTION(u64, get_local_linear_id, "_Z19get_local_linear_idv", (void)) {
  struct vec size = __offload_state_local_size, id = __offload_state_local_id;
  return (id.z * size.y + id.y) * size.x + id.x;
}
FUNCTION(u64, get_global_linear_id, "_Z20get_global_linear_idv", (void)) {
  struct vec size = __offload_state_global_size, offset = __offload_state_global_offset;
  return ((ID(2) - offset.z) * size.y + ID(1) - offset.y) * size.x + ID(0) - offset.x;
}

/* Where work-items wait for each other. The function has no body: work-items are cut where they call it, and kernels
 * that reach it are recorded as having a barrier. */
__attribute__((convergent, nothrow)) void __offload_wait(void);
#define WAITING(name, mangled, parameters) \
  __attribute__((convergent)) FUNCTION(void, name, mangled, parameters) { __offload_wait(); }
/* Convergent, as what they call: clang copies a call of another function into the branches before and behind it, and
 * then not all work-items come to the same barrier. */
WAITING(barrier, "_Z7barrierj", (u32 flags))
WAITING(work_group_barrier, "_Z22_cl_work_group_barrierj", (u32 flags))
WAITING(work_group_barrier_scope, "_Z22_cl_work_group_barrierj12memory_scope", (u32 flags, u32 scope))
WAITING(pocl_barrier, "pocl.barrier", (void))
/* Work-items of a group run on one thread: program order is all a fence could ask for. */
FUNCTION(void, mem_fence, "_Z9mem_fencej", (u32 flags)) { __asm__ volatile("" ::: "memory"); }
FUNCTION(void, read_mem_fence, "_Z14read_mem_fencej", (u32 flags)) { __asm__ volatile("" ::: "memory"); }
FUNCTION(void, write_mem_fence, "_Z15write_mem_fencej", (u32 flags)) { __asm__ volatile("" ::: "memory"); }

static INLINE struct vec vec_of(const u64 *from) { return (struct vec){from[0], from[1], from[2]}; }

INLINE void __offload_begin(const void *data) {
  const struct offload_group *group = data;
  __offload_state_global_offset = vec_of(group->global_offset);
  __offload_state_global_size = vec_of(group->global_size);
  __offload_state_local_size = vec_of(group->local_size);
  __offload_state_enqueued_local_size = vec_of(group->enqueued_local_size);
  __offload_state_num_groups = vec_of(group->num_groups);
  __offload_state_group_id = vec_of(group->group_id);
  __offload_state_work_dim = group->work_dim;
  __offload_state_print = group->print;
  __offload_state_print_data = group->print_data;
}

INLINE void __offload_item(u64 x, u64 y, u64 z) { __offload_state_local_id = (struct vec){x, y, z}; }

static void flush(void) {
  u32 size = __offload_state_print_size;
  __offload_state_print_size = 0;
  __offload_state_print(__offload_state_print_data, __offload_state_print_buffer, size);
}

INLINE void __offload_end(void) {
  if (__offload_state_print_size) flush();
}

