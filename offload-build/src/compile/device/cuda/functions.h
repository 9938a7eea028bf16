
// Functions that nvcc has without an include. Those of mathematics and most intrinsics come from clang's own headers,
// their code from NVIDIA's libdevice.
// clang's headers expect these of the C library.
#ifndef INT_MAX
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#endif
#define HUGE_VALF __builtin_huge_valf()
#define HUGE_VAL __builtin_huge_val()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")

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

// By overloads, as in the headers of CUDA; those of int are in those of clang.
#define __OFFLOAD_FN static __device__ __forceinline__
__OFFLOAD_FN unsigned int min(unsigned int a, unsigned int b) { return a < b ? a : b; }
__OFFLOAD_FN unsigned int max(unsigned int a, unsigned int b) { return a > b ? a : b; }
__OFFLOAD_FN long long min(long long a, long long b) { return a < b ? a : b; }
__OFFLOAD_FN long long max(long long a, long long b) { return a > b ? a : b; }
__OFFLOAD_FN float min(float a, float b) { return fminf(a, b); }
__OFFLOAD_FN float max(float a, float b) { return fmaxf(a, b); }
__OFFLOAD_FN double min(double a, double b) { return fmin(a, b); }
__OFFLOAD_FN double max(double a, double b) { return fmax(a, b); }
// Of two types, the result has that of `a + b`; nvcc has an overload for each pair.
template <bool IS_ARITHMETIC> struct __offload_if;
template <> struct __offload_if<true> { typedef int type; };
#define __OFFLOAD_MIXED(NAME, OF_FLOATS, OPERATOR) \
  template <typename A, typename B, typename __offload_if<__is_arithmetic(A) && __is_arithmetic(B)>::type = 0> \
  __host__ __device__ __forceinline__ auto NAME(A a, B b) -> decltype(a + b) { \
    typedef decltype(a + b) T; \
    if constexpr (__is_floating_point(T)) \
      return (T)OF_FLOATS((T)a, (T)b); \
    else \
      return (T)a OPERATOR (T)b ? (T)a : (T)b; \
  }
__OFFLOAD_MIXED(min, __builtin_fmin, <)
__OFFLOAD_MIXED(max, __builtin_fmax, >)
#undef __OFFLOAD_MIXED
#define __OFFLOAD_UNARY(NAME) __OFFLOAD_FN float NAME(float x) { return NAME##f(x); }
__OFFLOAD_UNARY(acos) __OFFLOAD_UNARY(asin) __OFFLOAD_UNARY(atan) __OFFLOAD_UNARY(ceil) __OFFLOAD_UNARY(cos)
__OFFLOAD_UNARY(cosh) __OFFLOAD_UNARY(exp) __OFFLOAD_UNARY(exp2) __OFFLOAD_UNARY(erf) __OFFLOAD_UNARY(fabs)
__OFFLOAD_UNARY(floor) __OFFLOAD_UNARY(log) __OFFLOAD_UNARY(log2) __OFFLOAD_UNARY(log10) __OFFLOAD_UNARY(rint)
__OFFLOAD_UNARY(round) __OFFLOAD_UNARY(rsqrt) __OFFLOAD_UNARY(sin) __OFFLOAD_UNARY(sinh) __OFFLOAD_UNARY(sqrt)
__OFFLOAD_UNARY(tan) __OFFLOAD_UNARY(tanh) __OFFLOAD_UNARY(trunc)
#undef __OFFLOAD_UNARY
__OFFLOAD_FN float pow(float x, float y) { return powf(x, y); }
__OFFLOAD_FN float fmod(float x, float y) { return fmodf(x, y); }
__OFFLOAD_FN float atan2(float y, float x) { return atan2f(y, x); }
__OFFLOAD_FN float fma(float a, float b, float c) { return fmaf(a, b, c); }

// https://docs.nvidia.com/cuda/parallel-thread-execution/#integer-arithmetic-instructions-dp4a
#if __CUDA_ARCH__ >= 610
#define __OFFLOAD_DOT(NAME, INSTRUCTION, TYPE, VECTOR_A, VECTOR_B) \
  __OFFLOAD_FN TYPE NAME(TYPE a, TYPE b, TYPE c) { \
    TYPE sum; \
    asm(INSTRUCTION " %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c)); \
    return sum; \
  } \
  __OFFLOAD_FN TYPE NAME(VECTOR_A a, VECTOR_B b, TYPE c) { \
    return NAME(__builtin_bit_cast(TYPE, a), __builtin_bit_cast(TYPE, b), c); \
  }
__OFFLOAD_DOT(__dp4a, "dp4a.s32.s32", int, char4, char4)
__OFFLOAD_DOT(__dp4a, "dp4a.u32.u32", unsigned int, uchar4, uchar4)
__OFFLOAD_DOT(__dp2a_lo, "dp2a.lo.s32.s32", int, short2, char4)
__OFFLOAD_DOT(__dp2a_lo, "dp2a.lo.u32.u32", unsigned int, ushort2, uchar4)
__OFFLOAD_DOT(__dp2a_hi, "dp2a.hi.s32.s32", int, short2, char4)
__OFFLOAD_DOT(__dp2a_hi, "dp2a.hi.u32.u32", unsigned int, ushort2, uchar4)
#undef __OFFLOAD_DOT
#endif
#undef __OFFLOAD_FN
// As macros and functions of a C library have them, for those who include none. Templates, so that a library's own win.
#define __OFFLOAD_CLASS(NAME) \
  template <typename T, typename __offload_if<__is_floating_point(T)>::type = 0> \
  __host__ __device__ __forceinline__ bool NAME(T v) { \
    return __builtin_##NAME(v); \
  }
__OFFLOAD_CLASS(isnan)
__OFFLOAD_CLASS(isinf)
__OFFLOAD_CLASS(isfinite)
__OFFLOAD_CLASS(signbit)
#undef __OFFLOAD_CLASS
extern "C" {
__device__ void *malloc(size_t size);
__device__ void free(void *memory);
__device__ void *memcpy(void *to, const void *from, size_t size);
__device__ void *memset(void *memory, int value, size_t size);
}
extern "C" __device__ int printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
#include <assert.h>
