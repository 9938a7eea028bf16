
// Functions that nvcc has without an include, over those of the target and of clang's own headers.
// By overloads, as in the headers of CUDA; those of int are in those of clang, those of float and double before this.
__OFFLOAD_FN unsigned int min(unsigned int a, unsigned int b) { return a < b ? a : b; }
__OFFLOAD_FN unsigned int max(unsigned int a, unsigned int b) { return a > b ? a : b; }
__OFFLOAD_FN long long min(long long a, long long b) { return a < b ? a : b; }
__OFFLOAD_FN long long max(long long a, long long b) { return a > b ? a : b; }
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

// Of four products, and of two; the target has those of words.
#define __OFFLOAD_DOT(NAME, TYPE, VECTOR_A, VECTOR_B) \
  __OFFLOAD_FN TYPE NAME(VECTOR_A a, VECTOR_B b, TYPE c) { \
    return NAME(__builtin_bit_cast(TYPE, a), __builtin_bit_cast(TYPE, b), c); \
  }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 610
__OFFLOAD_DOT(__dp4a, int, char4, char4)
__OFFLOAD_DOT(__dp4a, unsigned int, uchar4, uchar4)
__OFFLOAD_DOT(__dp2a_lo, int, short2, char4)
__OFFLOAD_DOT(__dp2a_lo, unsigned int, ushort2, uchar4)
__OFFLOAD_DOT(__dp2a_hi, int, short2, char4)
__OFFLOAD_DOT(__dp2a_hi, unsigned int, ushort2, uchar4)
#endif
#undef __OFFLOAD_DOT
// A value of any size from another lane.
template <typename T> static __device__ __forceinline__ T __offload_from_lane(unsigned int mask, T v, int lane) {
  enum { WORDS = (sizeof(T) + 3) / 4 };
  unsigned int words[WORDS] = {};
  __builtin_memcpy(words, &v, sizeof(T));
#pragma unroll
  for (int i = 0; i < WORDS; i++)
    words[i] = __shfl_sync(mask, words[i], lane);
  __builtin_memcpy(&v, words, sizeof(T));
  return v;
}
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
