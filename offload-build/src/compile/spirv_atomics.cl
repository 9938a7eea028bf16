/* Atomic functions of OpenCL C 2.0 and 3.0 that LLVM 22's SPIR-V back end leaves undefined or makes invalid
 * instructions of: minimum and maximum, and comparisons of floating-point numbers.
 */
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
typedef enum memory_order { ORDER_RELAXED = 0, ORDER_ACQUIRE = 2, ORDER_RELEASE = 3, ORDER_BOTH = 4, ORDER_ALL = 5 } memory_order;
typedef enum memory_scope { SCOPE_ITEM = 0, SCOPE_GROUP = 1, SCOPE_DEVICE = 2, SCOPE_ALL = 3, SCOPE_SUB_GROUP = 4 } memory_scope;

/* https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html#Scope_-id- and #Memory_Semantics_-id- */
static INLINE int scope_of(memory_scope scope) {
  return scope == SCOPE_ITEM ? 4 : scope == SCOPE_GROUP ? 2 : scope == SCOPE_DEVICE ? 1 : scope == SCOPE_ALL ? 0 : 3;
}
static INLINE int semantics_of(memory_order order) {
  return order == ORDER_RELAXED ? 0 : order == ORDER_ACQUIRE ? 2 : order == ORDER_RELEASE ? 4 : order == ORDER_BOTH ? 8 : 16;
}

#define FETCH(name, instruction, type)                                                                               \
  type OVERLOAD instruction(volatile __generic type *, int, int, type);                                              \
  type OVERLOAD INLINE name##_explicit(volatile __generic atomic_##type *p, type value, memory_order order,         \
                                       memory_scope scope) {                                                         \
    return instruction((volatile __generic type *)p, scope_of(scope), semantics_of(order), value);                   \
  }                                                                                                                  \
  type OVERLOAD INLINE name##_explicit(volatile __generic atomic_##type *p, type value, memory_order order) {       \
    return name##_explicit(p, value, order, SCOPE_DEVICE);                                                           \
  }                                                                                                                  \
  type OVERLOAD INLINE name(volatile __generic atomic_##type *p, type value) {                                       \
    return name##_explicit(p, value, ORDER_ALL, SCOPE_DEVICE);                                                       \
  }
FETCH(atomic_fetch_min, __spirv_AtomicSMin, int) FETCH(atomic_fetch_max, __spirv_AtomicSMax, int)
FETCH(atomic_fetch_min, __spirv_AtomicUMin, uint) FETCH(atomic_fetch_max, __spirv_AtomicUMax, uint)
FETCH(atomic_fetch_min, __spirv_AtomicSMin, long) FETCH(atomic_fetch_max, __spirv_AtomicSMax, long)
FETCH(atomic_fetch_min, __spirv_AtomicUMin, ulong) FETCH(atomic_fetch_max, __spirv_AtomicUMax, ulong)

#define COMPARE(name, type, integer)                                                                                 \
  bool OVERLOAD name##_explicit(volatile __generic atomic_##integer *, __generic integer *, integer, memory_order,  \
                                memory_order, memory_scope);                                                         \
  bool OVERLOAD INLINE name##_explicit(volatile __generic atomic_##type *p, __generic type *expected, type value,   \
                                       memory_order success, memory_order failure, memory_scope scope) {             \
    return name##_explicit((volatile __generic atomic_##integer *)p, (__generic integer *)expected,                  \
                           __builtin_astype(value, integer), success, failure, scope);                               \
  }                                                                                                                  \
  bool OVERLOAD INLINE name##_explicit(volatile __generic atomic_##type *p, __generic type *expected, type value,   \
                                       memory_order success, memory_order failure) {                                 \
    return name##_explicit(p, expected, value, success, failure, SCOPE_DEVICE);                                      \
  }                                                                                                                  \
  bool OVERLOAD INLINE name(volatile __generic atomic_##type *p, __generic type *expected, type value) {             \
    return name##_explicit(p, expected, value, ORDER_ALL, ORDER_ALL, SCOPE_DEVICE);                                  \
  }
COMPARE(atomic_compare_exchange_strong, float, int) COMPARE(atomic_compare_exchange_weak, float, int)
COMPARE(atomic_compare_exchange_strong, double, long) COMPARE(atomic_compare_exchange_weak, double, long)
