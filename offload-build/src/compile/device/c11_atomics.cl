/* The atomic functions of OpenCL C 2.0 and 3.0 on generic pointers, with every order and scope, by clang's own operations
 * (https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_C.html#atomic-functions). Libraries have them for 32
 * bits or for named memory alone. Only those that a module uses get into it.
 */
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define ATOMIC __attribute__((overloadable, always_inline))
#define ORDER memory_order_seq_cst
#define SCOPE memory_scope_device

/* NVIDIA GPUs before sm_70 have relaxed operations and fences alone
 * (https://docs.nvidia.com/cuda/parallel-thread-execution/#memory-consistency-model). On later ones LLVM 22 leaves the order
 * out where an operation reads and writes, and the scope of all devices (nvptx_atomics.cl): fences stand around it.
 */
#if defined(OFFLOAD_FENCES)
#define FENCE(order) \
  if ((order) != memory_order_relaxed) __nvvm_membar_sys()
#define ACTUAL(order) memory_order_relaxed
#define BEFORE(order, scope) FENCE(order)
#define AFTER(order, scope) FENCE(order)
#else
#define FENCE(order)
#define ACTUAL(order) order
#endif
#if defined(__NVPTX__) && !defined(OFFLOAD_FENCES)
#define BEFORE(order, scope) \
  if ((order) == memory_order_seq_cst) ordered_fence(scope); \
  else if ((order) == memory_order_release || (order) == memory_order_acq_rel) released_fence(scope)
#define AFTER(order, scope) \
  if ((order) != memory_order_relaxed && (order) != memory_order_release) released_fence(scope)
#elif !defined(OFFLOAD_FENCES)
#define BEFORE(order, scope)
#define AFTER(order, scope)
#endif
#ifdef OFFLOAD_SYSTEM_SCOPE
#define PERFORM(NAME, object, value, order, scope)                              \
  (scope) == memory_scope_all_svm_devices ? system_atomic_##NAME(object, value) \
                                          : __opencl_atomic_##NAME(object, value, memory_order_relaxed, scope)
#else
#define PERFORM(NAME, object, value, order, scope) __opencl_atomic_##NAME(object, value, ACTUAL(order), scope)
#endif

#define EXCHANGE(NAME, A, T)                                                                                         \
  bool ATOMIC atomic_##NAME##_explicit(volatile A *object, T *expected, T desired, memory_order success,             \
                                       memory_order failure, memory_scope scope) {                                   \
    FENCE(success);                                                                                                  \
    bool done = __opencl_atomic_##NAME(object, expected, desired, ACTUAL(success), ACTUAL(failure), scope);          \
    FENCE(success);                                                                                                  \
    return done;                                                                                                     \
  }                                                                                                                  \
  bool ATOMIC atomic_##NAME##_explicit(volatile A *object, T *expected, T desired, memory_order success,             \
                              memory_order failure) {                                                                \
    return atomic_##NAME##_explicit(object, expected, desired, success, failure, SCOPE);                             \
  }                                                                                                                  \
  bool ATOMIC atomic_##NAME(volatile A *object, T *expected, T desired) {                                            \
    return atomic_##NAME##_explicit(object, expected, desired, ORDER, ORDER, SCOPE);                                 \
  }

#define READ_WRITE(NAME, A, T, V)                                                                                    \
  T ATOMIC atomic_##NAME##_explicit(volatile A *object, V value, memory_order order, memory_scope scope) {           \
    BEFORE(order, scope);                                                                                            \
    T result = PERFORM(NAME, object, value, order, scope);                                                           \
    AFTER(order, scope);                                                                                             \
    return result;                                                                                                   \
  }                                                                                                                  \
  T ATOMIC atomic_##NAME##_explicit(volatile A *object, V value, memory_order order) {                               \
    return atomic_##NAME##_explicit(object, value, order, SCOPE);                                                    \
  }                                                                                                                  \
  T ATOMIC atomic_##NAME(volatile A *object, V value) { return atomic_##NAME##_explicit(object, value, ORDER, SCOPE); }

#define VALUE(A, T)                                                                                                  \
  void ATOMIC atomic_init(volatile A *object, T value) { __opencl_atomic_init(object, value); }                      \
  T ATOMIC atomic_load_explicit(volatile A *object, memory_order order, memory_scope scope) {                        \
    FENCE(order);                                                                                                    \
    T result = __opencl_atomic_load(object, ACTUAL(order), scope);                                                   \
    FENCE(order);                                                                                                    \
    return result;                                                                                                   \
  }                                                                                                                  \
  T ATOMIC atomic_load_explicit(volatile A *object, memory_order order) {                                            \
    return atomic_load_explicit(object, order, SCOPE);                                                               \
  }                                                                                                                  \
  T ATOMIC atomic_load(volatile A *object) { return atomic_load_explicit(object, ORDER, SCOPE); }                    \
  void ATOMIC atomic_store_explicit(volatile A *object, T value, memory_order order, memory_scope scope) {           \
    FENCE(order);                                                                                                    \
    __opencl_atomic_store(object, value, ACTUAL(order), scope);                                                      \
  }                                                                                                                  \
  void ATOMIC atomic_store_explicit(volatile A *object, T value, memory_order order) {                               \
    atomic_store_explicit(object, value, order, SCOPE);                                                              \
  }                                                                                                                  \
  void ATOMIC atomic_store(volatile A *object, T value) { atomic_store_explicit(object, value, ORDER, SCOPE); }      \
  READ_WRITE(exchange, A, T, T)                                                                                      \
  EXCHANGE(compare_exchange_strong, A, T)                                                                            \
  EXCHANGE(compare_exchange_weak, A, T)

#define INTEGER(A, T)                                                                                                \
  VALUE(A, T)                                                                                                        \
  READ_WRITE(fetch_add, A, T, T)                                                                                     \
  READ_WRITE(fetch_sub, A, T, T)                                                                                     \
  READ_WRITE(fetch_or, A, T, T)                                                                                      \
  READ_WRITE(fetch_xor, A, T, T)                                                                                     \
  READ_WRITE(fetch_and, A, T, T)                                                                                     \
  READ_WRITE(fetch_min, A, T, T)                                                                                     \
  READ_WRITE(fetch_max, A, T, T)

INTEGER(atomic_int, int)
INTEGER(atomic_uint, uint)
INTEGER(atomic_long, long)
INTEGER(atomic_ulong, ulong)
VALUE(atomic_float, float)
VALUE(atomic_double, double)
/* Of atomic_uintptr_t, with a difference of pointers. */
READ_WRITE(fetch_add, atomic_ulong, ulong, long)
READ_WRITE(fetch_sub, atomic_ulong, ulong, long)

bool ATOMIC atomic_flag_test_and_set_explicit(volatile atomic_flag *flag, memory_order order, memory_scope scope) {
  return atomic_exchange_explicit((volatile atomic_int *)flag, 1, order, scope);
}
bool ATOMIC atomic_flag_test_and_set_explicit(volatile atomic_flag *flag, memory_order order) {
  return atomic_exchange_explicit((volatile atomic_int *)flag, 1, order, SCOPE);
}
bool ATOMIC atomic_flag_test_and_set(volatile atomic_flag *flag) {
  return atomic_exchange_explicit((volatile atomic_int *)flag, 1, ORDER, SCOPE);
}
void ATOMIC atomic_flag_clear_explicit(volatile atomic_flag *flag, memory_order order, memory_scope scope) {
  atomic_store_explicit((volatile atomic_int *)flag, 0, order, scope);
}
void ATOMIC atomic_flag_clear_explicit(volatile atomic_flag *flag, memory_order order) {
  atomic_store_explicit((volatile atomic_int *)flag, 0, order, SCOPE);
}
void ATOMIC atomic_flag_clear(volatile atomic_flag *flag) {
  atomic_store_explicit((volatile atomic_int *)flag, 0, ORDER, SCOPE);
}
