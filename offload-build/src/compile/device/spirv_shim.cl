/* Atomic functions of OpenCL C 1.2 (https://registry.khronos.org/OpenCL/sdk/1.2/docs/man/xhtml/atomicFunctions.html).
 * LLVM 22's SPIR-V back end leaves some as calls of undefined functions, and gives others on global memory the scope of
 * the work-group. Only those that a module uses stay in it. They are always inlined: the back end goes by names.
 *
 * They call the back end's own names for SPIR-V's instructions. Clang's atomic built-ins would be shorter, but their
 * instruction `atomicrmw` on a constant offset into a local array gets a wrong address: the offset in bytes is taken
 * for one in elements.
 *
 * Relaxed order, as OpenCL C 1.2 has it; global memory is shared by the device, local memory by the work-group.
 * The names atom_* are those of the extensions that OpenCL C 1.1 took in, with 64 bits as well.
 */
#define OVERLOAD __attribute__((overloadable))
typedef unsigned int uint;
typedef unsigned long ulong;

/* Operands of the instructions: memory scope and memory semantics. */
#define DEVICE 1
#define WORK_GROUP 2
#define RELAXED 0

#define ATOMIC __attribute__((overloadable, always_inline))

#define STEP(name, space, scope, type, instruction)                                                   \
  type ATOMIC atomic_##name(volatile space type *p) { return instruction(p, scope, RELAXED, (type)1); } \
  type ATOMIC atom_##name(volatile space type *p) { return atomic_##name(p); }

#define READ_WRITE(name, space, scope, type, instruction)                                             \
  type ATOMIC atomic_##name(volatile space type *p, type value) {                                     \
    return instruction(p, scope, RELAXED, value);                                                     \
  }                                                                                                   \
  type ATOMIC atom_##name(volatile space type *p, type value) { return atomic_##name(p, value); }

#define COMPARE_EXCHANGE(space, scope, type)                                                          \
  type OVERLOAD __spirv_AtomicCompareExchange(volatile space type *, int, int, int, type, type);      \
  type ATOMIC atomic_cmpxchg(volatile space type *p, type expected, type value) {                     \
    return __spirv_AtomicCompareExchange(p, scope, RELAXED, RELAXED, value, expected);                \
  }                                                                                                   \
  type ATOMIC atom_cmpxchg(volatile space type *p, type expected, type value) {                       \
    return atomic_cmpxchg(p, expected, value);                                                        \
  }

#define INTEGER(space, scope, type, sign)                                                             \
  type OVERLOAD __spirv_AtomicIAdd(volatile space type *, int, int, type);                            \
  type OVERLOAD __spirv_AtomicISub(volatile space type *, int, int, type);                            \
  type OVERLOAD __spirv_AtomicExchange(volatile space type *, int, int, type);                        \
  type OVERLOAD __spirv_Atomic##sign##Min(volatile space type *, int, int, type);                     \
  type OVERLOAD __spirv_Atomic##sign##Max(volatile space type *, int, int, type);                     \
  type OVERLOAD __spirv_AtomicAnd(volatile space type *, int, int, type);                             \
  type OVERLOAD __spirv_AtomicOr(volatile space type *, int, int, type);                              \
  type OVERLOAD __spirv_AtomicXor(volatile space type *, int, int, type);                             \
  STEP(inc, space, scope, type, __spirv_AtomicIAdd)                                                   \
  STEP(dec, space, scope, type, __spirv_AtomicISub)                                                   \
  READ_WRITE(add, space, scope, type, __spirv_AtomicIAdd)                                             \
  READ_WRITE(sub, space, scope, type, __spirv_AtomicISub)                                             \
  READ_WRITE(xchg, space, scope, type, __spirv_AtomicExchange)                                        \
  READ_WRITE(min, space, scope, type, __spirv_Atomic##sign##Min)                                      \
  READ_WRITE(max, space, scope, type, __spirv_Atomic##sign##Max)                                      \
  READ_WRITE(and, space, scope, type, __spirv_AtomicAnd)                                              \
  READ_WRITE(or, space, scope, type, __spirv_AtomicOr)                                                \
  READ_WRITE(xor, space, scope, type, __spirv_AtomicXor)                                              \
  COMPARE_EXCHANGE(space, scope, type)

#define SPACE(space, scope)                                                                           \
  INTEGER(space, scope, int, S)                                                                       \
  INTEGER(space, scope, uint, U)                                                                      \
  INTEGER(space, scope, long, S)                                                                      \
  INTEGER(space, scope, ulong, U)                                                                     \
  float ATOMIC atomic_xchg(volatile space float *p, float value) {                                    \
    return __builtin_astype(atomic_xchg((volatile space int *)p, __builtin_astype(value, int)), float); \
  }

SPACE(__global, DEVICE)
SPACE(__local, WORK_GROUP)
