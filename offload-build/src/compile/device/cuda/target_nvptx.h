
// The layer of NVIDIA: what is an instruction of PTX. Functions of mathematics and most intrinsics come from clang's own
// headers, their code from NVIDIA's libdevice.
#define __managed__ __attribute__((managed))
#define __grid_constant__ __attribute__((grid_constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

// clang's headers expect these of a toolkit.
typedef unsigned int cuuint32_t;
#define __OFFLOAD_SPACE(IS, BUILTIN, NAME, SPACE) \
  static __device__ __forceinline__ unsigned int IS(const void *p) { return __nvvm_isspacep_##BUILTIN(p); } \
  static __device__ __forceinline__ size_t __cvta_generic_to_##NAME(const void *p) { \
    return (size_t)(void __attribute__((address_space(SPACE))) *)p; \
  } \
  static __device__ __forceinline__ void *__cvta_##NAME##_to_generic(size_t p) { \
    return (void *)(void __attribute__((address_space(SPACE))) *)p; \
  }
__OFFLOAD_SPACE(__isGlobal, global, global, 1)
__OFFLOAD_SPACE(__isShared, shared, shared, 3)
__OFFLOAD_SPACE(__isConstant, const, constant, 4)
__OFFLOAD_SPACE(__isLocal, local, local, 5)
#undef __OFFLOAD_SPACE
#pragma push_macro("CUDA_VERSION")
#define CUDA_VERSION 12090
#include <__clang_cuda_builtin_vars.h>
#include <__clang_cuda_libdevice_declares.h>
#include <__clang_cuda_device_functions.h>
#include <__clang_cuda_intrinsics.h>
#include <__clang_cuda_math.h>
#pragma pop_macro("CUDA_VERSION")
__OFFLOAD_FN float min(float a, float b) { return fminf(a, b); }
__OFFLOAD_FN float max(float a, float b) { return fmaxf(a, b); }
__OFFLOAD_FN double min(double a, double b) { return fmin(a, b); }
__OFFLOAD_FN double max(double a, double b) { return fmax(a, b); }
__OFFLOAD_FN float nanf(const char *) { return __builtin_nanf(""); }
__OFFLOAD_FN double nan(const char *) { return __builtin_nan(""); }

__OFFLOAD_FN unsigned int __offload_lane() { return __nvvm_read_ptx_sreg_laneid(); }
__OFFLOAD_FN unsigned int __offload_lanes_before() { return __nvvm_read_ptx_sreg_lanemask_lt(); }

// https://docs.nvidia.com/cuda/parallel-thread-execution/#integer-arithmetic-instructions-dp4a
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 610
#define __OFFLOAD_DOT(NAME, INSTRUCTION, TYPE) \
  __OFFLOAD_FN TYPE NAME(TYPE a, TYPE b, TYPE c) { \
    TYPE sum; \
    asm(INSTRUCTION " %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c)); \
    return sum; \
  }
__OFFLOAD_DOT(__dp4a, "dp4a.s32.s32", int)
__OFFLOAD_DOT(__dp4a, "dp4a.u32.u32", unsigned int)
__OFFLOAD_DOT(__dp2a_lo, "dp2a.lo.s32.s32", int)
__OFFLOAD_DOT(__dp2a_lo, "dp2a.lo.u32.u32", unsigned int)
__OFFLOAD_DOT(__dp2a_hi, "dp2a.hi.s32.s32", int)
__OFFLOAD_DOT(__dp2a_hi, "dp2a.hi.u32.u32", unsigned int)
#undef __OFFLOAD_DOT
#endif

// Loads and stores with a hint for the caches, of 4, 8 and 16 bytes by one instruction:
// https://docs.nvidia.com/cuda/cuda-c-programming-guide/#load-functions-using-cache-hints
#define __OFFLOAD_LOAD(NAME, HINT) \
  template <typename T> __OFFLOAD_FN T NAME(const T *p) { \
    if constexpr (sizeof(T) == 4 && alignof(T) == 4) { \
      unsigned int v; \
      asm volatile("ld.global." HINT ".b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); \
      return __builtin_bit_cast(T, v); \
    } else if constexpr (sizeof(T) == 8 && alignof(T) == 8) { \
      unsigned long long v; \
      asm volatile("ld.global." HINT ".b64 %0, [%1];" : "=l"(v) : "l"(p) : "memory"); \
      return __builtin_bit_cast(T, v); \
    } else if constexpr (sizeof(T) == 16 && alignof(T) == 16) { \
      ulonglong2 v; \
      asm volatile("ld.global." HINT ".v2.b64 {%0, %1}, [%2];" : "=l"(v.x), "=l"(v.y) : "l"(p) : "memory"); \
      return __builtin_bit_cast(T, v); \
    } else { \
      return *p; \
    } \
  }
#define __OFFLOAD_STORE(NAME, HINT) \
  template <typename T> __OFFLOAD_FN void NAME(T *p, T value) { \
    if constexpr (sizeof(T) == 4 && alignof(T) == 4) { \
      asm volatile("st.global." HINT ".b32 [%0], %1;" ::"l"(p), "r"(__builtin_bit_cast(unsigned int, value)) \
                   : "memory"); \
    } else if constexpr (sizeof(T) == 8 && alignof(T) == 8) { \
      asm volatile("st.global." HINT ".b64 [%0], %1;" ::"l"(p), "l"(__builtin_bit_cast(unsigned long long, value)) \
                   : "memory"); \
    } else if constexpr (sizeof(T) == 16 && alignof(T) == 16) { \
      ulonglong2 v = __builtin_bit_cast(ulonglong2, value); \
      asm volatile("st.global." HINT ".v2.b64 [%0], {%1, %2};" ::"l"(p), "l"(v.x), "l"(v.y) : "memory"); \
    } else { \
      *p = value; \
    } \
  }
__OFFLOAD_LOAD(__ldca, "ca") __OFFLOAD_LOAD(__ldcg, "cg") __OFFLOAD_LOAD(__ldcs, "cs") __OFFLOAD_LOAD(__ldlu, "lu")
__OFFLOAD_LOAD(__ldcv, "cv") __OFFLOAD_STORE(__stwb, "wb") __OFFLOAD_STORE(__stcg, "cg") __OFFLOAD_STORE(__stcs, "cs")
__OFFLOAD_STORE(__stwt, "wt")
#undef __OFFLOAD_LOAD
#undef __OFFLOAD_STORE

// Half towards zero: PTX has no other direction but to the nearest.
__OFFLOAD_FN unsigned short __offload_half_towards_zero(float v) {
  unsigned short bits;
  asm("cvt.rz.f16.f32 %0, %1;" : "=h"(bits) : "f"(v));
  return bits;
}

#if __CUDA_ARCH__ >= 700
__OFFLOAD_FN void __nanosleep(unsigned int nanoseconds) { __nvvm_nanosleep(nanoseconds); }
#endif

// Atomic functions: of 16 bits from sm_70 on, sums of bfloat16 from sm_90 on.
__OFFLOAD_FN unsigned int __offload_atomic_increment(unsigned int *p, unsigned int limit) {
  return __nvvm_atom_inc_gen_ui(p, limit);
}
__OFFLOAD_FN unsigned int __offload_atomic_decrement(unsigned int *p, unsigned int limit) {
  return __nvvm_atom_dec_gen_ui(p, limit);
}
__OFFLOAD_FN unsigned int __offload_atomic_increment_system(unsigned int *p, unsigned int limit) {
  unsigned int old;
  asm volatile("atom.sys.inc.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(limit) : "memory");
  return old;
}
__OFFLOAD_FN unsigned int __offload_atomic_decrement_system(unsigned int *p, unsigned int limit) {
  unsigned int old;
  asm volatile("atom.sys.dec.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(limit) : "memory");
  return old;
}
// Of the whole system: LLVM writes no scope but that of an exchange under a condition, and PTX has the device's for it.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
#define __OFFLOAD_HAS_SYSTEM_ATOMICS 1
#define __OFFLOAD_SYSTEM_ATOMIC(NAME, INSTRUCTION, TYPE, REGISTER) \
  __OFFLOAD_FN TYPE atomic##NAME##_system(TYPE *p, TYPE v) { \
    TYPE old; \
    asm volatile("atom.sys." INSTRUCTION " %0, [%1], %2;" : "=" REGISTER(old) : "l"(p), REGISTER(v) : "memory"); \
    return old; \
  }
#define __OFFLOAD_SYSTEM_ATOMICS(TYPE, NUMBER, SUM, BITS, REGISTER) \
  __OFFLOAD_SYSTEM_ATOMIC(Add, "add." SUM, TYPE, REGISTER) \
  __OFFLOAD_SYSTEM_ATOMIC(Min, "min." NUMBER, TYPE, REGISTER) \
  __OFFLOAD_SYSTEM_ATOMIC(Max, "max." NUMBER, TYPE, REGISTER) \
  __OFFLOAD_SYSTEM_ATOMIC(And, "and." BITS, TYPE, REGISTER) \
  __OFFLOAD_SYSTEM_ATOMIC(Or, "or." BITS, TYPE, REGISTER) \
  __OFFLOAD_SYSTEM_ATOMIC(Xor, "xor." BITS, TYPE, REGISTER) \
  __OFFLOAD_SYSTEM_ATOMIC(Exch, "exch." BITS, TYPE, REGISTER) \
  __OFFLOAD_FN TYPE atomicSub_system(TYPE *p, TYPE v) { return atomicAdd_system(p, (TYPE)(0 - v)); }
__OFFLOAD_SYSTEM_ATOMICS(int, "s32", "u32", "b32", "r")
__OFFLOAD_SYSTEM_ATOMICS(unsigned int, "u32", "u32", "b32", "r")
__OFFLOAD_SYSTEM_ATOMICS(long long, "s64", "u64", "b64", "l")
__OFFLOAD_SYSTEM_ATOMICS(unsigned long long, "u64", "u64", "b64", "l")
__OFFLOAD_SYSTEM_ATOMIC(Add, "add.f32", float, "f")
__OFFLOAD_SYSTEM_ATOMIC(Add, "add.f64", double, "d")
#undef __OFFLOAD_SYSTEM_ATOMICS
#undef __OFFLOAD_SYSTEM_ATOMIC
#endif
#define __OFFLOAD_ATOMIC_16(NAME, INSTRUCTION) \
  __OFFLOAD_FN unsigned short NAME(void *p, unsigned short v) { \
    unsigned short old; \
    asm volatile(INSTRUCTION " %0, [%1], %2;" : "=h"(old) : "l"(p), "h"(v) : "memory"); \
    return old; \
  }
#if __CUDA_ARCH__ >= 700
#define __OFFLOAD_HAS_ATOMICS_16 1
__OFFLOAD_FN unsigned short __offload_atomic_exchange_16(unsigned short *p, unsigned short expected, unsigned short v) {
  unsigned short old;
  asm volatile("atom.cas.b16 %0, [%1], %2, %3;" : "=h"(old) : "l"(p), "h"(expected), "h"(v) : "memory");
  return old;
}
__OFFLOAD_ATOMIC_16(__offload_atomic_add_half, "atom.add.noftz.f16")
#endif
#if __CUDA_ARCH__ >= 900
#define __OFFLOAD_HAS_ATOMIC_BFLOAT16 1
__OFFLOAD_ATOMIC_16(__offload_atomic_add_bfloat16, "atom.add.noftz.bf16")
#endif
#undef __OFFLOAD_ATOMIC_16
#define __OFFLOAD_HAS_ATOMIC_HALF2 1
__OFFLOAD_FN unsigned int __offload_atomic_add_half2(void *p, unsigned int v) {
  unsigned int old;
  asm volatile("atom.add.noftz.f16x2 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(v) : "memory");
  return old;
}
