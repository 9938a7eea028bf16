/* Atomic functions of OpenCL C 2.0 and 3.0 that LLVM 22's SPIR-V back end leaves undefined (minimum and maximum), makes
 * invalid instructions of (comparisons of floating-point numbers, loads with a scope), or gets wrong: those that read and
 * write become relaxed and get the scope of the work-group unless a scope is given; stores have the scope of the device.
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

#define FETCH_BY(name, instruction, type, operand)                                                                   \
  type OVERLOAD INLINE name##_explicit(volatile __generic atomic_##type *p, operand value, memory_order order,      \
                                       memory_scope scope) {                                                         \
    return instruction((volatile __generic type *)p, scope_of(scope), semantics_of(order), (type)value);             \
  }                                                                                                                  \
  type OVERLOAD INLINE name##_explicit(volatile __generic atomic_##type *p, operand value, memory_order order) {    \
    return name##_explicit(p, value, order, SCOPE_DEVICE);                                                           \
  }                                                                                                                  \
  type OVERLOAD INLINE name(volatile __generic atomic_##type *p, operand value) {                                    \
    return name##_explicit(p, value, ORDER_ALL, SCOPE_DEVICE);                                                       \
  }
#define FETCH(name, instruction, type)                                                                               \
  type OVERLOAD instruction(volatile __generic type *, int, int, type);                                              \
  FETCH_BY(name, instruction, type, type)
#define LOAD_STORE(type)                                                                                             \
  type OVERLOAD __spirv_AtomicLoad(volatile __generic type *, int, int);                                             \
  void OVERLOAD __spirv_AtomicStore(volatile __generic type *, int, int, type);                                      \
  type OVERLOAD INLINE atomic_load_explicit(volatile __generic atomic_##type *p, memory_order order,                \
                                            memory_scope scope) {                                                    \
    return __spirv_AtomicLoad((volatile __generic type *)p, scope_of(scope), semantics_of(order));                   \
  }                                                                                                                  \
  type OVERLOAD INLINE atomic_load_explicit(volatile __generic atomic_##type *p, memory_order order) {              \
    return atomic_load_explicit(p, order, SCOPE_DEVICE);                                                             \
  }                                                                                                                  \
  type OVERLOAD INLINE atomic_load(volatile __generic atomic_##type *p) {                                            \
    return atomic_load_explicit(p, ORDER_ALL, SCOPE_DEVICE);                                                         \
  }                                                                                                                  \
  void OVERLOAD INLINE atomic_store_explicit(volatile __generic atomic_##type *p, type value, memory_order order,   \
                                             memory_scope scope) {                                                   \
    __spirv_AtomicStore((volatile __generic type *)p, scope_of(scope), semantics_of(order), value);                  \
  }                                                                                                                  \
  void OVERLOAD INLINE atomic_store_explicit(volatile __generic atomic_##type *p, type value, memory_order order) { \
    atomic_store_explicit(p, value, order, SCOPE_DEVICE);                                                            \
  }                                                                                                                  \
  void OVERLOAD INLINE atomic_store(volatile __generic atomic_##type *p, type value) {                               \
    atomic_store_explicit(p, value, ORDER_ALL, SCOPE_DEVICE);                                                        \
  }
#define NUMBER(type) LOAD_STORE(type) FETCH(atomic_exchange, __spirv_AtomicExchange, type)
#define INTEGER_NUMBER(type, sign)                                                                                   \
  NUMBER(type)                                                                                                       \
  FETCH(atomic_fetch_add, __spirv_AtomicIAdd, type)                                                                  \
  FETCH(atomic_fetch_sub, __spirv_AtomicISub, type)                                                                  \
  FETCH(atomic_fetch_or, __spirv_AtomicOr, type)                                                                     \
  FETCH(atomic_fetch_xor, __spirv_AtomicXor, type)                                                                   \
  FETCH(atomic_fetch_and, __spirv_AtomicAnd, type)                                                                   \
  FETCH(atomic_fetch_min, __spirv_Atomic##sign##Min, type)                                                           \
  FETCH(atomic_fetch_max, __spirv_Atomic##sign##Max, type)
INTEGER_NUMBER(int, S) INTEGER_NUMBER(uint, U) INTEGER_NUMBER(long, S) INTEGER_NUMBER(ulong, U)
NUMBER(float) NUMBER(double)
/* Of atomic_uintptr_t, with a difference of pointers. */
FETCH_BY(atomic_fetch_add, __spirv_AtomicIAdd, ulong, long) FETCH_BY(atomic_fetch_sub, __spirv_AtomicISub, ulong, long)

/* OpAtomicCompareExchange for the weak functions, too: for its weak form the back end forgets to declare 64 bits. */
#define COMPARE_INTEGER(type)                                                                                        \
  bool OVERLOAD atomic_compare_exchange_strong_explicit(volatile __generic atomic_##type *, __generic type *, type, \
                                                        memory_order, memory_order, memory_scope);
COMPARE_INTEGER(int) COMPARE_INTEGER(uint) COMPARE_INTEGER(long) COMPARE_INTEGER(ulong)
#define COMPARE(name, type, integer)                                                                                 \
  bool OVERLOAD INLINE name##_explicit(volatile __generic atomic_##type *p, __generic type *expected, type value,   \
                                       memory_order success, memory_order failure, memory_scope scope) {             \
    return atomic_compare_exchange_strong_explicit((volatile __generic atomic_##integer *)p,                         \
                                                   (__generic integer *)expected, __builtin_astype(value, integer), \
                                                   success, failure, scope);                                         \
  }                                                                                                                  \
  bool OVERLOAD INLINE name##_explicit(volatile __generic atomic_##type *p, __generic type *expected, type value,   \
                                       memory_order success, memory_order failure) {                                 \
    return name##_explicit(p, expected, value, success, failure, SCOPE_DEVICE);                                      \
  }                                                                                                                  \
  bool OVERLOAD INLINE name(volatile __generic atomic_##type *p, __generic type *expected, type value) {             \
    return name##_explicit(p, expected, value, ORDER_ALL, ORDER_ALL, SCOPE_DEVICE);                                  \
  }
COMPARE(atomic_compare_exchange_strong, float, int) COMPARE(atomic_compare_exchange_strong, double, long)
COMPARE(atomic_compare_exchange_weak, int, int) COMPARE(atomic_compare_exchange_weak, uint, uint)
COMPARE(atomic_compare_exchange_weak, long, long) COMPARE(atomic_compare_exchange_weak, ulong, ulong)
COMPARE(atomic_compare_exchange_weak, float, int) COMPARE(atomic_compare_exchange_weak, double, long)
