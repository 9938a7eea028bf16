// What CUDA C++ kernels commonly use of CUDA's headers, so that they compile without a CUDA toolkit. Functions of
// mathematics and device intrinsics come from clang's own headers, their code from NVIDIA's libdevice.
// https://docs.nvidia.com/cuda/cuda-c-programming-guide/#c-language-extensions
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __grid_constant__ __attribute__((grid_constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __noinline__ __attribute__((noinline))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))

typedef __SIZE_TYPE__ size_t;
typedef unsigned char uchar;
typedef unsigned int uint;
struct uint3 { unsigned int x, y, z; };
struct dim3 {
  unsigned int x, y, z;
  __host__ __device__ constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
};
#define __OFFLOAD_VECTORS(TYPE, NAME, ALIGN2, ALIGN4) \
  struct NAME##1 { TYPE x; }; \
  struct __align__(ALIGN2) NAME##2 { TYPE x, y; }; \
  struct NAME##3 { TYPE x, y, z; }; \
  struct __align__(ALIGN4) NAME##4 { TYPE x, y, z, w; }; \
  static __device__ __forceinline__ NAME##1 make_##NAME##1(TYPE x) { return {x}; } \
  static __device__ __forceinline__ NAME##2 make_##NAME##2(TYPE x, TYPE y) { return {x, y}; } \
  static __device__ __forceinline__ NAME##3 make_##NAME##3(TYPE x, TYPE y, TYPE z) { return {x, y, z}; } \
  static __device__ __forceinline__ NAME##4 make_##NAME##4(TYPE x, TYPE y, TYPE z, TYPE w) { return {x, y, z, w}; }
__OFFLOAD_VECTORS(signed char, char, 2, 4)
__OFFLOAD_VECTORS(unsigned char, uchar, 2, 4)
__OFFLOAD_VECTORS(short, short, 4, 8)
__OFFLOAD_VECTORS(unsigned short, ushort, 4, 8)
__OFFLOAD_VECTORS(int, int, 8, 16)
#define uint3 __offload_uint3
__OFFLOAD_VECTORS(unsigned int, uint, 8, 16)
#undef uint3
__OFFLOAD_VECTORS(long long, longlong, 16, 16)
__OFFLOAD_VECTORS(unsigned long long, ulonglong, 16, 16)
__OFFLOAD_VECTORS(float, float, 8, 16)
__OFFLOAD_VECTORS(double, double, 16, 16)
#undef __OFFLOAD_VECTORS

// clang's headers expect these of the C library.
#ifndef INT_MAX
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#endif
#define HUGE_VALF __builtin_huge_valf()
#define HUGE_VAL __builtin_huge_val()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")

#pragma push_macro("CUDA_VERSION")
#define CUDA_VERSION 9020
#include <__clang_cuda_builtin_vars.h>
#include <__clang_cuda_libdevice_declares.h>
#include <__clang_cuda_device_functions.h>
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

#define __OFFLOAD_ATOMIC(NAME, BUILTIN, TYPE) \
  __OFFLOAD_FN TYPE atomic##NAME(TYPE *p, TYPE v) { return BUILTIN(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }
#define __OFFLOAD_ATOMICS(TYPE) \
  __OFFLOAD_ATOMIC(Add, __scoped_atomic_fetch_add, TYPE) __OFFLOAD_ATOMIC(Sub, __scoped_atomic_fetch_sub, TYPE) \
  __OFFLOAD_ATOMIC(Min, __scoped_atomic_fetch_min, TYPE) __OFFLOAD_ATOMIC(Max, __scoped_atomic_fetch_max, TYPE) \
  __OFFLOAD_ATOMIC(And, __scoped_atomic_fetch_and, TYPE) __OFFLOAD_ATOMIC(Or, __scoped_atomic_fetch_or, TYPE) \
  __OFFLOAD_ATOMIC(Xor, __scoped_atomic_fetch_xor, TYPE) __OFFLOAD_ATOMIC(Exch, __scoped_atomic_exchange_n, TYPE) \
  __OFFLOAD_FN TYPE atomicCAS(TYPE *p, TYPE expected, TYPE v) { \
    __scoped_atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, \
                                       __MEMORY_SCOPE_DEVICE); \
    return expected; \
  }
__OFFLOAD_ATOMICS(int)
__OFFLOAD_ATOMICS(unsigned int)
__OFFLOAD_ATOMICS(unsigned long long)
__OFFLOAD_ATOMICS(long long)
__OFFLOAD_ATOMIC(Add, __scoped_atomic_fetch_add, float)
#if __CUDA_ARCH__ >= 600
__OFFLOAD_ATOMIC(Add, __scoped_atomic_fetch_add, double)
#endif
#undef __OFFLOAD_ATOMICS
#undef __OFFLOAD_ATOMIC

template <typename T> __OFFLOAD_FN T __ldg(const T *p) { return *p; }

#define __OFFLOAD_SHUFFLE(NAME, MODE, CLAMP) \
  __OFFLOAD_FN int NAME(unsigned int mask, int v, int lane, int width = 32) { \
    return __nvvm_shfl_sync_##MODE##_i32(mask, v, lane, ((32 - width) << 8) | CLAMP); \
  } \
  __OFFLOAD_FN unsigned int NAME(unsigned int mask, unsigned int v, int lane, int width = 32) { \
    return (unsigned int)NAME(mask, (int)v, lane, width); \
  } \
  __OFFLOAD_FN float NAME(unsigned int mask, float v, int lane, int width = 32) { \
    return __nvvm_shfl_sync_##MODE##_f32(mask, v, lane, ((32 - width) << 8) | CLAMP); \
  }
__OFFLOAD_SHUFFLE(__shfl_sync, idx, 31)
__OFFLOAD_SHUFFLE(__shfl_up_sync, up, 0)
__OFFLOAD_SHUFFLE(__shfl_down_sync, down, 31)
__OFFLOAD_SHUFFLE(__shfl_xor_sync, bfly, 31)
#undef __OFFLOAD_SHUFFLE
__OFFLOAD_FN unsigned int __ballot_sync(unsigned int mask, int predicate) {
  return __nvvm_vote_ballot_sync(mask, predicate);
}
__OFFLOAD_FN int __any_sync(unsigned int mask, int predicate) { return __nvvm_vote_any_sync(mask, predicate); }
__OFFLOAD_FN int __all_sync(unsigned int mask, int predicate) { return __nvvm_vote_all_sync(mask, predicate); }
__OFFLOAD_FN unsigned int __activemask() { return __nvvm_activemask(); }
#undef __OFFLOAD_FN
extern "C" __device__ int printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
#line 1
