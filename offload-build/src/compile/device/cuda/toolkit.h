// Built-in functions of nvcc that clang and libdevice lack, and what nvcc includes by itself; the toolkit's own headers
// come first. Each function is one instruction of PTX:
// https://docs.nvidia.com/cuda/parallel-thread-execution/#integer-arithmetic-instructions-dp4a
#include <assert.h>

#ifndef __CUDACC_VER_MAJOR__
#define __CUDACC_VER_MAJOR__ (CUDART_VERSION / 1000)
#define __CUDACC_VER_MINOR__ (CUDART_VERSION % 1000 / 10)
#endif

// nvcc lets functions for the host name it.
static inline __attribute__((host)) void __trap() { __builtin_trap(); }

// Functions for the host have these as kernels do, of any two types.
template <bool IS_ARITHMETIC> struct __offload_if;
template <> struct __offload_if<true> { typedef int type; };
template <typename A, typename B, typename __offload_if<__is_arithmetic(A) && __is_arithmetic(B)>::type = 0>
static inline __attribute__((host)) auto min(A a, B b) -> decltype(a + b) {
  typedef decltype(a + b) T;
  return (T)a < (T)b ? (T)a : (T)b;
}
template <typename A, typename B, typename __offload_if<__is_arithmetic(A) && __is_arithmetic(B)>::type = 0>
static inline __attribute__((host)) auto max(A a, B b) -> decltype(a + b) {
  typedef decltype(a + b) T;
  return (T)a > (T)b ? (T)a : (T)b;
}

#define __OFFLOAD_BUILTIN extern "C" __attribute__((device)) inline __attribute__((always_inline))
#if __CUDA_ARCH__ >= 610
#define __OFFLOAD_DOT(NAME, INSTRUCTION, TYPE) \
  __OFFLOAD_BUILTIN TYPE NAME(TYPE a, TYPE b, TYPE c) { \
    TYPE sum; \
    asm(INSTRUCTION " %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c)); \
    return sum; \
  }
__OFFLOAD_DOT(__nv_idp4a_s_s_impl, "dp4a.s32.s32", int)
__OFFLOAD_DOT(__nv_idp4a_u_u_impl, "dp4a.u32.u32", unsigned int)
__OFFLOAD_DOT(__nv_idp2a_lo_s_s_impl, "dp2a.lo.s32.s32", int)
__OFFLOAD_DOT(__nv_idp2a_lo_u_u_impl, "dp2a.lo.u32.u32", unsigned int)
__OFFLOAD_DOT(__nv_idp2a_hi_s_s_impl, "dp2a.hi.s32.s32", int)
__OFFLOAD_DOT(__nv_idp2a_hi_u_u_impl, "dp2a.hi.u32.u32", unsigned int)
#undef __OFFLOAD_DOT
#endif
__OFFLOAD_BUILTIN unsigned short __nv_bswap16_impl(unsigned short x) { return __builtin_bswap16(x); }
__OFFLOAD_BUILTIN unsigned int __nv_bswap32_impl(unsigned int x) { return __builtin_bswap32(x); }
__OFFLOAD_BUILTIN unsigned long long __nv_bswap64_impl(unsigned long long x) { return __builtin_bswap64(x); }
#undef __OFFLOAD_BUILTIN

#define __OFFLOAD_FN static inline __attribute__((device, always_inline))
