
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
__OFFLOAD_UNARY(acosh) __OFFLOAD_UNARY(asinh) __OFFLOAD_UNARY(atanh) __OFFLOAD_UNARY(cbrt) __OFFLOAD_UNARY(erfc)
__OFFLOAD_UNARY(expm1) __OFFLOAD_UNARY(lgamma) __OFFLOAD_UNARY(log1p) __OFFLOAD_UNARY(logb) __OFFLOAD_UNARY(nearbyint)
__OFFLOAD_UNARY(tgamma) __OFFLOAD_UNARY(exp10) __OFFLOAD_UNARY(sinpi) __OFFLOAD_UNARY(cospi) __OFFLOAD_UNARY(rcbrt)
__OFFLOAD_UNARY(erfcx) __OFFLOAD_UNARY(erfinv) __OFFLOAD_UNARY(erfcinv) __OFFLOAD_UNARY(normcdf)
__OFFLOAD_UNARY(normcdfinv)
#undef __OFFLOAD_UNARY
// The C++ library of this machine has templates that kernels could call as well, and that call functions of the host: these
// are better in kernels.
#define __OFFLOAD_OF_INTEGER(NAME) \
  template <typename T, typename __offload_if<__is_integral(T)>::type = 0> __OFFLOAD_FN double NAME(T x) { \
    return NAME((double)x); \
  }
__OFFLOAD_OF_INTEGER(acos) __OFFLOAD_OF_INTEGER(asin) __OFFLOAD_OF_INTEGER(atan) __OFFLOAD_OF_INTEGER(ceil)
__OFFLOAD_OF_INTEGER(cos) __OFFLOAD_OF_INTEGER(cosh) __OFFLOAD_OF_INTEGER(exp) __OFFLOAD_OF_INTEGER(exp2)
__OFFLOAD_OF_INTEGER(erf) __OFFLOAD_OF_INTEGER(fabs) __OFFLOAD_OF_INTEGER(floor) __OFFLOAD_OF_INTEGER(log)
__OFFLOAD_OF_INTEGER(log2) __OFFLOAD_OF_INTEGER(log10) __OFFLOAD_OF_INTEGER(rint) __OFFLOAD_OF_INTEGER(round)
__OFFLOAD_OF_INTEGER(sin) __OFFLOAD_OF_INTEGER(sinh) __OFFLOAD_OF_INTEGER(sqrt) __OFFLOAD_OF_INTEGER(tan)
__OFFLOAD_OF_INTEGER(tanh) __OFFLOAD_OF_INTEGER(trunc) __OFFLOAD_OF_INTEGER(acosh) __OFFLOAD_OF_INTEGER(asinh)
__OFFLOAD_OF_INTEGER(atanh) __OFFLOAD_OF_INTEGER(cbrt) __OFFLOAD_OF_INTEGER(erfc) __OFFLOAD_OF_INTEGER(expm1)
__OFFLOAD_OF_INTEGER(lgamma) __OFFLOAD_OF_INTEGER(log1p) __OFFLOAD_OF_INTEGER(logb) __OFFLOAD_OF_INTEGER(nearbyint)
__OFFLOAD_OF_INTEGER(tgamma)
#undef __OFFLOAD_OF_INTEGER
#define __OFFLOAD_BINARY(NAME) __OFFLOAD_FN float NAME(float x, float y) { return NAME##f(x, y); }
__OFFLOAD_BINARY(pow) __OFFLOAD_BINARY(fmod) __OFFLOAD_BINARY(atan2) __OFFLOAD_BINARY(hypot) __OFFLOAD_BINARY(fdim)
__OFFLOAD_BINARY(nextafter) __OFFLOAD_BINARY(remainder) __OFFLOAD_BINARY(copysign) __OFFLOAD_BINARY(fmax)
__OFFLOAD_BINARY(fmin) __OFFLOAD_BINARY(rhypot)
#undef __OFFLOAD_BINARY
__OFFLOAD_FN float fma(float a, float b, float c) { return fmaf(a, b, c); }
__OFFLOAD_FN float scalbn(float x, int exponent) { return scalbnf(x, exponent); }
__OFFLOAD_FN float scalbln(float x, long exponent) { return scalblnf(x, exponent); }
__OFFLOAD_FN float ldexp(float x, int exponent) { return ldexpf(x, exponent); }
__OFFLOAD_FN float frexp(float x, int *exponent) { return frexpf(x, exponent); }
__OFFLOAD_FN float remquo(float x, float y, int *quotient) { return remquof(x, y, quotient); }
__OFFLOAD_FN int ilogb(float x) { return ilogbf(x); }
__OFFLOAD_FN long lrint(float x) { return lrintf(x); }
__OFFLOAD_FN long lround(float x) { return lroundf(x); }
__OFFLOAD_FN long long llrint(float x) { return llrintf(x); }
__OFFLOAD_FN long long llround(float x) { return llroundf(x); }
__OFFLOAD_FN void sincos(float v, float *sine, float *cosine) { sincosf(v, sine, cosine); }
namespace std {
__OFFLOAD_FN float modf(float v, float *whole) { return ::modff(v, whole); }
}
#define __assume(CONDITION) __builtin_assume(CONDITION)

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
__device__ __forceinline__ void *memmove(void *to, const void *from, size_t size) {
  return __builtin_memmove(to, from, size);
}
__device__ __forceinline__ int memcmp(const void *a, const void *b, size_t size) {
  const unsigned char *first = (const unsigned char *)a, *second = (const unsigned char *)b;
  for (size_t i = 0; i < size; i++)
    if (first[i] != second[i])
      return first[i] < second[i] ? -1 : 1;
  return 0;
}
}
extern "C" __device__ int printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
#include <assert.h>

// https://docs.nvidia.com/cuda/cuda-math-api/cuda_math_api/group__CUDA__MATH__INTRINSIC__SIMD.html: sums, and the least and the
// greatest of two and three, of words and of the halves of a word; those with `relu` are at least 0.
#define __OFFLOAD_OF_WORDS(END, TYPE) \
  __OFFLOAD_FN TYPE __viaddmax_##END(TYPE a, TYPE b, TYPE c) { return max((TYPE)((unsigned int)a + (unsigned int)b), c); } \
  __OFFLOAD_FN TYPE __viaddmin_##END(TYPE a, TYPE b, TYPE c) { return min((TYPE)((unsigned int)a + (unsigned int)b), c); } \
  __OFFLOAD_FN TYPE __vimax3_##END(TYPE a, TYPE b, TYPE c) { return max(max(a, b), c); } \
  __OFFLOAD_FN TYPE __vimin3_##END(TYPE a, TYPE b, TYPE c) { return min(min(a, b), c); } \
  __OFFLOAD_FN TYPE __vibmax_##END(TYPE a, TYPE b, bool *is_first) { return (*is_first = a >= b) ? a : b; } \
  __OFFLOAD_FN TYPE __vibmin_##END(TYPE a, TYPE b, bool *is_first) { return (*is_first = a <= b) ? a : b; }
__OFFLOAD_OF_WORDS(s32, int)
__OFFLOAD_OF_WORDS(u32, unsigned int)
#undef __OFFLOAD_OF_WORDS
#define __OFFLOAD_OF_HALVES(END, LETTER) \
  __OFFLOAD_FN unsigned int __viaddmax_##END(unsigned int a, unsigned int b, unsigned int c) { \
    return __vmax##LETTER##2(__vadd2(a, b), c); \
  } \
  __OFFLOAD_FN unsigned int __viaddmin_##END(unsigned int a, unsigned int b, unsigned int c) { \
    return __vmin##LETTER##2(__vadd2(a, b), c); \
  } \
  __OFFLOAD_FN unsigned int __vimax3_##END(unsigned int a, unsigned int b, unsigned int c) { \
    return __vmax##LETTER##2(__vmax##LETTER##2(a, b), c); \
  } \
  __OFFLOAD_FN unsigned int __vimin3_##END(unsigned int a, unsigned int b, unsigned int c) { \
    return __vmin##LETTER##2(__vmin##LETTER##2(a, b), c); \
  } \
  __OFFLOAD_FN unsigned int __vibmax_##END(unsigned int a, unsigned int b, bool *is_high_first, bool *is_low_first) { \
    unsigned int is_first = __vcmpge##LETTER##2(a, b); \
    *is_high_first = is_first >> 31; \
    *is_low_first = is_first & 1; \
    return __vmax##LETTER##2(a, b); \
  } \
  __OFFLOAD_FN unsigned int __vibmin_##END(unsigned int a, unsigned int b, bool *is_high_first, bool *is_low_first) { \
    unsigned int is_first = __vcmple##LETTER##2(a, b); \
    *is_high_first = is_first >> 31; \
    *is_low_first = is_first & 1; \
    return __vmin##LETTER##2(a, b); \
  }
__OFFLOAD_OF_HALVES(s16x2, s)
__OFFLOAD_OF_HALVES(u16x2, u)
#undef __OFFLOAD_OF_HALVES
#define __OFFLOAD_RELU(END, TYPE, AT_LEAST_0) \
  __OFFLOAD_FN TYPE __viaddmax_##END##_relu(TYPE a, TYPE b, TYPE c) { return AT_LEAST_0(__viaddmax_##END(a, b, c), 0); } \
  __OFFLOAD_FN TYPE __viaddmin_##END##_relu(TYPE a, TYPE b, TYPE c) { return AT_LEAST_0(__viaddmin_##END(a, b, c), 0); } \
  __OFFLOAD_FN TYPE __vimax3_##END##_relu(TYPE a, TYPE b, TYPE c) { return AT_LEAST_0(__vimax3_##END(a, b, c), 0); } \
  __OFFLOAD_FN TYPE __vimin3_##END##_relu(TYPE a, TYPE b, TYPE c) { return AT_LEAST_0(__vimin3_##END(a, b, c), 0); }
__OFFLOAD_RELU(s32, int, max)
__OFFLOAD_RELU(s16x2, unsigned int, __vmaxs2)
#undef __OFFLOAD_RELU
__OFFLOAD_FN int __vimax_s32_relu(int a, int b) { return max(max(a, b), 0); }
__OFFLOAD_FN int __vimin_s32_relu(int a, int b) { return max(min(a, b), 0); }
__OFFLOAD_FN unsigned int __vimax_s16x2_relu(unsigned int a, unsigned int b) { return __vmaxs2(__vmaxs2(a, b), 0); }
__OFFLOAD_FN unsigned int __vimin_s16x2_relu(unsigned int a, unsigned int b) { return __vmaxs2(__vmins2(a, b), 0); }
