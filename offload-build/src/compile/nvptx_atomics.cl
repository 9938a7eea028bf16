// Atomic functions of cl_khr_int64_base_atomics and cl_khr_int64_extended_atomics, which libclc has for other GPUs alone
// (https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_Ext.html#cl_khr_int64_atomics).
// Relaxed order, as OpenCL C 1.2 has it.

#define ATOM __attribute__((overloadable))
#define RELAXED __ATOMIC_RELAXED

#define ATOM_STEP(NAME, OPERATION, SPACE, SCOPE, T) \
  T ATOM atom_##NAME(volatile SPACE T *p) { return __scoped_atomic_fetch_##OPERATION(p, (T)1, RELAXED, SCOPE); }
#define ATOM_OPERATION(NAME, SPACE, SCOPE, T) \
  T ATOM atom_##NAME(volatile SPACE T *p, T value) { return __scoped_atomic_fetch_##NAME(p, value, RELAXED, SCOPE); }
#define ATOM_TYPE(SPACE, SCOPE, T)                                                                                  \
  T ATOM atom_xchg(volatile SPACE T *p, T value) { return __scoped_atomic_exchange_n(p, value, RELAXED, SCOPE); }   \
  T ATOM atom_cmpxchg(volatile SPACE T *p, T expected, T value) {                                                   \
    __scoped_atomic_compare_exchange_n(p, &expected, value, false, RELAXED, RELAXED, SCOPE);                        \
    return expected;                                                                                                \
  }                                                                                                                 \
  ATOM_STEP(inc, add, SPACE, SCOPE, T)                                                                              \
  ATOM_STEP(dec, sub, SPACE, SCOPE, T)                                                                              \
  ATOM_OPERATION(add, SPACE, SCOPE, T)                                                                              \
  ATOM_OPERATION(sub, SPACE, SCOPE, T)                                                                              \
  ATOM_OPERATION(min, SPACE, SCOPE, T)                                                                              \
  ATOM_OPERATION(max, SPACE, SCOPE, T)                                                                              \
  ATOM_OPERATION(and, SPACE, SCOPE, T)                                                                              \
  ATOM_OPERATION(or, SPACE, SCOPE, T)                                                                               \
  ATOM_OPERATION(xor, SPACE, SCOPE, T)
#define ATOM_SPACE(SPACE, SCOPE) ATOM_TYPE(SPACE, SCOPE, long) ATOM_TYPE(SPACE, SCOPE, ulong)
ATOM_SPACE(__global, __MEMORY_SCOPE_DEVICE)
ATOM_SPACE(__local, __MEMORY_SCOPE_WRKGRP)
