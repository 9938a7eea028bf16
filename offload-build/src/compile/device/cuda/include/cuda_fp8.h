// Numbers of 8 bits: https://docs.nvidia.com/cuda/cuda-math-api/cuda_math_api/group__CUDA__MATH__INTRINSIC__FP8.html
// and the two formats of https://arxiv.org/abs/2209.05433
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define __CUDA_FP8_TYPES_EXIST__

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

#define __OFFLOAD_HD static __host__ __device__ __forceinline__

// Two numbers at a time, with the same results as below, which stay for sm_89: PTX has the instructions there in a later
// version than that of `nvptx:sm_89`.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-cvt
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 900
#define __OFFLOAD_FP8_INSTRUCTIONS
__OFFLOAD_HD __nv_fp8x2_storage_t __offload_floats_to_fp8(float low, float high, __nv_fp8_interpretation_t format) {
  __nv_fp8x2_storage_t pair;
  if (format == __NV_E4M3)
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
  else
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
  return pair;
}
__OFFLOAD_HD __nv_fp8x2_storage_t __offload_halves_to_fp8(__half2_raw v, __nv_fp8_interpretation_t format) {
  unsigned int halves = __builtin_bit_cast(unsigned int, v);
  __nv_fp8x2_storage_t pair;
  if (format == __NV_E4M3)
    asm("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(pair) : "r"(halves));
  else
    asm("cvt.rn.satfinite.e5m2x2.f16x2 %0, %1;" : "=h"(pair) : "r"(halves));
  return pair;
}
__OFFLOAD_HD __half2_raw __offload_fp8_to_halves(__nv_fp8x2_storage_t v, __nv_fp8_interpretation_t format) {
  unsigned int halves;
  if (format == __NV_E4M3)
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(v));
  else
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(v));
  return __builtin_bit_cast(__half2_raw, halves);
}
#endif

// To the nearest, or to even. The sign of NaN is lost.
__OFFLOAD_HD __nv_fp8_storage_t __nv_cvt_float_to_fp8(float v, __nv_saturation_t saturate,
                                                      __nv_fp8_interpretation_t format) {
#ifdef __OFFLOAD_FP8_INSTRUCTIONS
  if (saturate == __NV_SATFINITE)
    return (__nv_fp8_storage_t)__offload_floats_to_fp8(v, 0.0f, format);
#endif
  bool is_e4m3 = format == __NV_E4M3;
  unsigned int bits = __builtin_bit_cast(unsigned int, v);
  unsigned int sign = bits >> 24 & 0x80;
  bits &= 0x7fffffff;
  if (bits > 0x7f800000)
    return 0x7f;
  // Half a step beyond 448 is rounded to 448, which is even; half a step beyond 57344 is not.
  unsigned int greatest = is_e4m3 ? 0x7e : 0x7b;
  bool is_beyond = is_e4m3 ? bits > 0x43e80000 /* 464 */ : bits >= 0x47700000 /* 61440 */;
  if (is_beyond)
    return (__nv_fp8_storage_t)(sign | (saturate == __NV_SATFINITE ? greatest : is_e4m3 ? 0x7f : 0x7c));
  unsigned int shift = is_e4m3 ? 20 : 21;
  unsigned int bias = is_e4m3 ? 120 : 112;
  unsigned int rounded;
  if (bits < (bias + 1) << 23) {
    // Below the least normal number the step stays: a sum with a number of that step is rounded to it.
    float step = is_e4m3 ? 16384.0f : 128.0f;
    float sum = __builtin_bit_cast(float, bits) + step;
    rounded = __builtin_bit_cast(unsigned int, sum) - __builtin_bit_cast(unsigned int, step);
  } else {
    rounded = bits + (1u << (shift - 1)) - 1 + (bits >> shift & 1);
    rounded = (rounded >> shift) - (bias << (23 - shift));
  }
  return (__nv_fp8_storage_t)(sign | (rounded > greatest ? greatest : rounded));
}
__OFFLOAD_HD __nv_fp8_storage_t __nv_cvt_double_to_fp8(double v, __nv_saturation_t saturate,
                                                       __nv_fp8_interpretation_t format) {
  // The NaN of a double keeps its sign, and in E5M2, which has several, the upper digits.
  if (v != v) {
    unsigned int high = __builtin_bit_cast(unsigned long long, v) >> 32;
    unsigned int digits = format == __NV_E4M3 ? 3 : 2 | (high >> 18 & 1);
    return (__nv_fp8_storage_t)((high >> 24 & 0x80) | 0x7c | digits);
  }
  return __nv_cvt_float_to_fp8(__offload_to_odd(v), saturate, format);
}
__OFFLOAD_HD __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw v, __nv_saturation_t saturate,
                                                        __nv_fp8_interpretation_t format) {
#ifdef __OFFLOAD_FP8_INSTRUCTIONS
  if (saturate == __NV_SATFINITE)
    return (__nv_fp8_storage_t)__offload_halves_to_fp8({v.x, 0}, format);
#endif
  return __nv_cvt_float_to_fp8(__half2float(__half(v)), saturate, format);
}
__OFFLOAD_HD __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw v, __nv_saturation_t saturate,
                                                            __nv_fp8_interpretation_t format) {
  return __nv_cvt_float_to_fp8(__bfloat162float(__nv_bfloat16(v)), saturate, format);
}
__OFFLOAD_HD __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 v, __nv_saturation_t saturate,
                                                           __nv_fp8_interpretation_t format) {
#ifdef __OFFLOAD_FP8_INSTRUCTIONS
  if (saturate == __NV_SATFINITE)
    return __offload_floats_to_fp8(v.x, v.y, format);
#endif
  unsigned int low = __nv_cvt_float_to_fp8(v.x, saturate, format);
  return (__nv_fp8x2_storage_t)(low | (unsigned int)__nv_cvt_float_to_fp8(v.y, saturate, format) << 8);
}
__OFFLOAD_HD __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw v, __nv_saturation_t saturate,
                                                             __nv_fp8_interpretation_t format) {
#ifdef __OFFLOAD_FP8_INSTRUCTIONS
  if (saturate == __NV_SATFINITE)
    return __offload_halves_to_fp8(v, format);
#endif
  return __nv_cvt_float2_to_fp8x2(__half22float2(__half2(v)), saturate, format);
}
// Exact: half has more digits and exponents than both.
__OFFLOAD_HD __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t v, __nv_fp8_interpretation_t format) {
#ifdef __OFFLOAD_FP8_INSTRUCTIONS
  return {__offload_fp8_to_halves(v, format).x};
#else
  if (format == __NV_E5M2)
    return {(unsigned short)((v & 0x7f) > 0x7c ? 0x7fff : v << 8)};
  if ((v & 0x7f) == 0x7f)
    return {0x7fff};
  // The exponent's bias is 8 less.
  __half size = __hmul(__ushort_as_half((unsigned short)((v & 0x7f) << 7)), __half(256.0f));
  return {(unsigned short)(__half_as_ushort(size) | (v & 0x80) << 8)};
#endif
}
__OFFLOAD_HD __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t v, __nv_fp8_interpretation_t format) {
#ifdef __OFFLOAD_FP8_INSTRUCTIONS
  return __offload_fp8_to_halves(v, format);
#else
  return {__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)v, format).x,
          __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(v >> 8), format).x};
#endif
}

#define __OFFLOAD_FP8(NAME, FORMAT) \
  struct NAME { \
    __nv_fp8_storage_t __x; \
    NAME() = default; \
    __host__ __device__ explicit NAME(float v) : __x(__nv_cvt_float_to_fp8(v, __NV_SATFINITE, FORMAT)) {} \
    __host__ __device__ explicit NAME(double v) : __x(__nv_cvt_double_to_fp8(v, __NV_SATFINITE, FORMAT)) {} \
    __host__ __device__ explicit NAME(__half v) : __x(__nv_cvt_halfraw_to_fp8(v, __NV_SATFINITE, FORMAT)) {} \
    __host__ __device__ explicit NAME(__nv_bfloat16 v) \
        : __x(__nv_cvt_bfloat16raw_to_fp8(v, __NV_SATFINITE, FORMAT)) {} \
    __host__ __device__ explicit NAME(int v) : NAME((double)v) {} \
    __host__ __device__ explicit NAME(unsigned int v) : NAME((double)v) {} \
    __host__ __device__ explicit NAME(short v) : NAME((float)v) {} \
    __host__ __device__ explicit NAME(unsigned short v) : NAME((float)v) {} \
    __host__ __device__ explicit NAME(long v) : NAME(__offload_integer_to_odd(v)) {} \
    __host__ __device__ explicit NAME(unsigned long v) : NAME(__offload_integer_to_odd(v)) {} \
    __host__ __device__ explicit NAME(long long v) : NAME(__offload_integer_to_odd(v)) {} \
    __host__ __device__ explicit NAME(unsigned long long v) : NAME(__offload_integer_to_odd(v)) {} \
    __host__ __device__ explicit operator __half() const { return __half(__nv_cvt_fp8_to_halfraw(__x, FORMAT)); } \
    __host__ __device__ explicit operator float() const { return __half2float((__half)*this); } \
    __host__ __device__ explicit operator double() const { return (float)*this; } \
    __host__ __device__ explicit operator __nv_bfloat16() const { return __nv_bfloat16((float)*this); } \
    __host__ __device__ explicit operator bool() const { return (__x & 0x7f) != 0; } \
  };
__OFFLOAD_FP8(__nv_fp8_e4m3, __NV_E4M3)
__OFFLOAD_FP8(__nv_fp8_e5m2, __NV_E5M2)
#undef __OFFLOAD_FP8

// Two and four numbers: the first is in the lowest bits.
typedef unsigned int __nv_fp8x4_storage_t;
#define __OFFLOAD_FP8S(NAME, FORMAT) \
  struct __align__(2) __nv_fp8x2_##NAME { \
    __nv_fp8x2_storage_t __x; \
    __nv_fp8x2_##NAME() = default; \
    __host__ __device__ explicit __nv_fp8x2_##NAME(float2 v) \
        : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, FORMAT)) {} \
    __host__ __device__ explicit __nv_fp8x2_##NAME(__half2 v) \
        : __x(__nv_cvt_halfraw2_to_fp8x2(v, __NV_SATFINITE, FORMAT)) {} \
    __host__ __device__ explicit __nv_fp8x2_##NAME(__nv_bfloat162 v) : __nv_fp8x2_##NAME(__bfloat1622float2(v)) {} \
    __host__ __device__ explicit operator __half2() const { return __half2(__nv_cvt_fp8x2_to_halfraw2(__x, FORMAT)); } \
    __host__ __device__ explicit operator float2() const { return __half22float2((__half2)*this); } \
  }; \
  struct __align__(4) __nv_fp8x4_##NAME { \
    __nv_fp8x4_storage_t __x; \
    __nv_fp8x4_##NAME() = default; \
    __host__ __device__ explicit __nv_fp8x4_##NAME(float4 v) \
        : __nv_fp8x4_##NAME(__nv_fp8x2_##NAME(float2{v.x, v.y}), __nv_fp8x2_##NAME(float2{v.z, v.w})) {} \
    __host__ __device__ explicit __nv_fp8x4_##NAME(__half2 low, __half2 high) \
        : __nv_fp8x4_##NAME(__nv_fp8x2_##NAME(low), __nv_fp8x2_##NAME(high)) {} \
    __host__ __device__ explicit __nv_fp8x4_##NAME(__nv_bfloat162 low, __nv_bfloat162 high) \
        : __nv_fp8x4_##NAME(__nv_fp8x2_##NAME(low), __nv_fp8x2_##NAME(high)) {} \
    __host__ __device__ explicit operator float4() const { \
      __nv_fp8x2_##NAME low, high; \
      low.__x = (__nv_fp8x2_storage_t)__x; \
      high.__x = (__nv_fp8x2_storage_t)(__x >> 16); \
      float2 first = (float2)low; \
      float2 second = (float2)high; \
      return {first.x, first.y, second.x, second.y}; \
    } \
\
  private: \
    __host__ __device__ explicit __nv_fp8x4_##NAME(__nv_fp8x2_##NAME low, __nv_fp8x2_##NAME high) \
        : __x((unsigned int)low.__x | (unsigned int)high.__x << 16) {} \
  };
__OFFLOAD_FP8S(e4m3, __NV_E4M3)
__OFFLOAD_FP8S(e5m2, __NV_E5M2)
#undef __OFFLOAD_FP8S
#undef __OFFLOAD_HD
