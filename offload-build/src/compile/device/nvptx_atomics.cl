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

#define STATIC static __attribute__((overloadable, always_inline))

/* What c11_atomics.cl puts around operations that read and write, from sm_70 on
 * (https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-membar-fence). */
#ifndef OFFLOAD_FENCES
#define FENCE_OF_SCOPE(NAME, KIND)                                                                                  \
  STATIC void NAME(memory_scope scope) {                                                                            \
    if (scope == memory_scope_all_svm_devices) __asm__ volatile("fence." KIND ".sys;" ::: "memory");                \
    else if (scope == memory_scope_device) __asm__ volatile("fence." KIND ".gpu;" ::: "memory");                    \
    else __asm__ volatile("fence." KIND ".cta;" ::: "memory");                                                      \
  }
FENCE_OF_SCOPE(ordered_fence, "sc")
FENCE_OF_SCOPE(released_fence, "acq_rel")
#endif

/* Operations of the scope of all devices, for which LLVM 22 has those of one device. */
#ifdef OFFLOAD_SYSTEM_SCOPE
#define SYSTEM(NAME, INSTRUCTION, A, T, R)                                                                          \
  STATIC T system_##NAME(volatile A *p, T value) {                                                                  \
    T result;                                                                                                       \
    __asm__ volatile("atom.sys." INSTRUCTION " %0, [%1], %2;" : "=" R(result) : "l"(p), R(value) : "memory");       \
    return result;                                                                                                  \
  }
#define SYSTEM_INTEGER(A, T, R, SIGN, BITS)                                                                         \
  SYSTEM(atomic_exchange, "exch.b" BITS, A, T, R)                                                                   \
  SYSTEM(atomic_fetch_add, "add.u" BITS, A, T, R)                                                                   \
  SYSTEM(atomic_fetch_or, "or.b" BITS, A, T, R)                                                                     \
  SYSTEM(atomic_fetch_xor, "xor.b" BITS, A, T, R)                                                                   \
  SYSTEM(atomic_fetch_and, "and.b" BITS, A, T, R)                                                                   \
  SYSTEM(atomic_fetch_min, "min." SIGN BITS, A, T, R)                                                               \
  SYSTEM(atomic_fetch_max, "max." SIGN BITS, A, T, R)                                                               \
  STATIC T system_atomic_fetch_sub(volatile A *p, T value) { return system_atomic_fetch_add(p, (T)0 - value); }
SYSTEM_INTEGER(atomic_int, int, "r", "s", "32")
SYSTEM_INTEGER(atomic_uint, uint, "r", "u", "32")
SYSTEM_INTEGER(atomic_long, long, "l", "s", "64")
SYSTEM_INTEGER(atomic_ulong, ulong, "l", "u", "64")
SYSTEM(atomic_exchange, "exch.b32", atomic_float, float, "f")
SYSTEM(atomic_exchange, "exch.b64", atomic_double, double, "d")
#endif
