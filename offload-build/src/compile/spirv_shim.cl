/* Atomic functions of OpenCL C 1.2 that LLVM 22's SPIR-V back end leaves as calls of undefined functions
 * (https://registry.khronos.org/OpenCL/sdk/1.2/docs/man/xhtml/atomicFunctions.html). Only those that a module uses
 * stay in it.
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

#define STEP(name, space, scope, type, instruction)                                                     \
  type OVERLOAD atomic_##name(volatile space type *p) { return instruction(p, scope, RELAXED, (type)1); } \
  type OVERLOAD atom_##name(volatile space type *p) { return atomic_##name(p); }

#define READ_WRITE(name, space, scope, type, instruction)                                               \
  type OVERLOAD atomic_##name(volatile space type *p, type value) {                                     \
    return instruction(p, scope, RELAXED, value);                                                       \
  }                                                                                                     \
  type OVERLOAD atom_##name(volatile space type *p, type value) { return atomic_##name(p, value); }

#define INTEGER(space, scope, type, sign)                                                               \
  type OVERLOAD __spirv_AtomicIAdd(volatile space type *, int, int, type);                              \
  type OVERLOAD __spirv_AtomicISub(volatile space type *, int, int, type);                              \
  type OVERLOAD __spirv_AtomicExchange(volatile space type *, int, int, type);                          \
  type OVERLOAD __spirv_Atomic##sign##Min(volatile space type *, int, int, type);                       \
  type OVERLOAD __spirv_Atomic##sign##Max(volatile space type *, int, int, type);                       \
  STEP(inc, space, scope, type, __spirv_AtomicIAdd)                                                     \
  STEP(dec, space, scope, type, __spirv_AtomicISub)                                                     \
  READ_WRITE(xchg, space, scope, type, __spirv_AtomicExchange)                                          \
  READ_WRITE(min, space, scope, type, __spirv_Atomic##sign##Min)                                        \
  READ_WRITE(max, space, scope, type, __spirv_Atomic##sign##Max)

#define SPACE(space, scope)                                                                             \
  INTEGER(space, scope, int, S)                                                                         \
  INTEGER(space, scope, uint, U)                                                                        \
  INTEGER(space, scope, long, S)                                                                        \
  INTEGER(space, scope, ulong, U)                                                                       \
  float OVERLOAD atomic_xchg(volatile space float *p, float value) {                                    \
    return __builtin_astype(atomic_xchg((volatile space int *)p, __builtin_astype(value, int)), float); \
  }

SPACE(__global, DEVICE)
SPACE(__local, WORK_GROUP)
