// Numbers of 16 bits as `__bf16`: https://docs.nvidia.com/cuda/cuda-math-api/group__CUDA__MATH__INTRINSIC__BFLOAT16.html
#pragma once
#include <offload_names_begin.h>
#include <cuda_fp16.h>
#define __CUDA_BF16_TYPES_EXIST__
#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80U)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7FFFU)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7F7FU)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001U)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000U)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80U)

typedef struct __align__(2) { unsigned short x; } __nv_bfloat16_raw;
typedef struct __align__(4) { unsigned short x, y; } __nv_bfloat162_raw;

#define __OFFLOAD_HD static __host__ __device__ __forceinline__
#define __OFFLOAD_D static __device__ __forceinline__
// As for halves.
#define __OFFLOAD_SQRT __nvvm_sqrt_approx_f

// The float of `v` that is rounded to bfloat16 as `v` itself: rounding to odd keeps what decides.
__OFFLOAD_HD float __offload_to_odd(double v) {
  float f = (float)v;
  double error = v - (double)f;
  unsigned int bits = __builtin_bit_cast(unsigned int, f);
  if (!(error != 0) || (bits & 1) || (bits & 0x7f800000) == 0x7f800000)
    return f;
  // By the sign of zero as well, to which what is less than half of the least float is rounded.
  bool is_negative = bits >> 31;
  return __builtin_bit_cast(float, (error > 0) != is_negative ? bits + 1 : bits - 1);
}
// The same of an integer.
template <typename T> __OFFLOAD_HD float __offload_integer_to_odd(T v) {
  if constexpr (sizeof(T) < 8) {
    return __offload_to_odd((double)v);
  } else {
    unsigned long long size = v < 0 ? 0 - (unsigned long long)v : (unsigned long long)v;
    // 32 bits above and one for all below are enough.
    if (size >> 32)
      size = (size & ~0xffffull) | ((size & 0xffff) != 0 ? 0x10000 : 0);
    float f = __offload_to_odd((double)size);
    return v < 0 ? -f : f;
  }
}

#define __OFFLOAD_OF(TYPE, ROUND) \
  __host__ __device__ __nv_bfloat16(TYPE v) : __x((__bf16)ROUND(v)) {} \
  __host__ __device__ __nv_bfloat16 &operator=(TYPE v) { return *this = __nv_bfloat16(v); }
struct __align__(2) __nv_bfloat16 {
  __bf16 __x;
  __nv_bfloat16() = default;
  __host__ __device__ constexpr explicit __nv_bfloat16(__bf16 v, int) : __x(v) {}
  __host__ __device__ constexpr __nv_bfloat16(const __nv_bfloat16_raw &raw)
      : __x(__builtin_bit_cast(__bf16, raw.x)) {}
  __OFFLOAD_OF(float, (float)) __OFFLOAD_OF(double, __offload_to_odd)
  __OFFLOAD_OF(short, __offload_integer_to_odd) __OFFLOAD_OF(unsigned short, __offload_integer_to_odd)
  __OFFLOAD_OF(int, __offload_integer_to_odd) __OFFLOAD_OF(unsigned int, __offload_integer_to_odd)
  __OFFLOAD_OF(long, __offload_integer_to_odd) __OFFLOAD_OF(unsigned long, __offload_integer_to_odd)
  __OFFLOAD_OF(long long, __offload_integer_to_odd) __OFFLOAD_OF(unsigned long long, __offload_integer_to_odd)
  __host__ __device__ explicit __nv_bfloat16(const __half &v) : __x((__bf16)(float)v.__x) {}
  __host__ __device__ operator float() const { return (float)__x; }
  __host__ __device__ operator __nv_bfloat16_raw() const { return {__builtin_bit_cast(unsigned short, __x)}; }
  // Zero of either sign is false.
  __host__ __device__ explicit operator bool() const { return (float)__x != 0; }
};
#undef __OFFLOAD_OF
typedef __nv_bfloat16 nv_bfloat16;
typedef __bf16 __offload_bfloat162 __attribute__((ext_vector_type(2)));

struct __align__(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  __host__ __device__ __nv_bfloat162(const __nv_bfloat16 &x, const __nv_bfloat16 &y) : x(x), y(y) {}
  __host__ __device__ __nv_bfloat162(const __nv_bfloat162_raw &raw)
      : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
  __host__ __device__ __nv_bfloat162(__offload_bfloat162 v) : x(v.x, 0), y(v.y, 0) {}
  __host__ __device__ __offload_bfloat162 vector() const { return __offload_bfloat162{x.__x, y.__x}; }
  __host__ __device__ operator __nv_bfloat162_raw() const {
    return {((__nv_bfloat16_raw)x).x, ((__nv_bfloat16_raw)y).x};
  }
};
typedef __nv_bfloat162 nv_bfloat162;

__OFFLOAD_HD __nv_bfloat16 __offload_bfloat16(__bf16 v) { return __nv_bfloat16(v, 0); }

// Conversions, to the nearest, or to even, but for those with another ending.
__OFFLOAD_HD __nv_bfloat16 __float2bfloat16(float v) { return __nv_bfloat16(v); }
__OFFLOAD_HD __nv_bfloat16 __float2bfloat16_rn(float v) { return __nv_bfloat16(v); }
__OFFLOAD_HD __nv_bfloat16 __double2bfloat16(double v) { return __nv_bfloat16(v); }
__OFFLOAD_HD float __bfloat162float(__nv_bfloat16 v) { return (float)v.__x; }
// Towards zero the lower half is cut off; what is away from zero is one step on. NaN stays NaN.
__OFFLOAD_HD __nv_bfloat16 __offload_bfloat16_of(float v, bool is_away) {
  if (v != v)
    return __nv_bfloat16(v);
  unsigned int bits = __builtin_bit_cast(unsigned int, v);
  unsigned int upper = (bits >> 16) + (is_away && (bits & 0xffff) != 0 ? 1 : 0);
  return __nv_bfloat16(__nv_bfloat16_raw{(unsigned short)upper});
}
__OFFLOAD_HD __nv_bfloat16 __float2bfloat16_rz(float v) { return __offload_bfloat16_of(v, false); }
__OFFLOAD_HD __nv_bfloat16 __float2bfloat16_rd(float v) { return __offload_bfloat16_of(v, v < 0); }
__OFFLOAD_HD __nv_bfloat16 __float2bfloat16_ru(float v) { return __offload_bfloat16_of(v, v > 0); }
__OFFLOAD_HD __nv_bfloat162 __float2bfloat162_rn(float v) { return __nv_bfloat162(__nv_bfloat16(v), __nv_bfloat16(v)); }
__OFFLOAD_HD __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return __nv_bfloat162(__nv_bfloat16(x), __nv_bfloat16(y));
}
__OFFLOAD_HD __nv_bfloat162 __float22bfloat162_rn(float2 v) { return __floats2bfloat162_rn(v.x, v.y); }
__OFFLOAD_HD float2 __bfloat1622float2(__nv_bfloat162 v) {
  return make_float2(__bfloat162float(v.x), __bfloat162float(v.y));
}
__OFFLOAD_HD float __low2float(__nv_bfloat162 v) { return __bfloat162float(v.x); }
__OFFLOAD_HD float __high2float(__nv_bfloat162 v) { return __bfloat162float(v.y); }
__OFFLOAD_HD unsigned short __bfloat16_as_ushort(__nv_bfloat16 v) { return __builtin_bit_cast(unsigned short, v.__x); }
__OFFLOAD_HD short __bfloat16_as_short(__nv_bfloat16 v) { return __builtin_bit_cast(short, v.__x); }
__OFFLOAD_HD __nv_bfloat16 __ushort_as_bfloat16(unsigned short v) {
  return __offload_bfloat16(__builtin_bit_cast(__bf16, v));
}
__OFFLOAD_HD __nv_bfloat16 __short_as_bfloat16(short v) { return __offload_bfloat16(__builtin_bit_cast(__bf16, v)); }
#define __OFFLOAD_INTEGER(NAME, TYPE, OF_FLOAT) \
  __OFFLOAD_HD __nv_bfloat16 __##NAME##2bfloat16_rn(TYPE v) { return __nv_bfloat16(v); } \
  __OFFLOAD_D TYPE __bfloat162##NAME##_rn(__nv_bfloat16 v) { return (TYPE)OF_FLOAT##_rn(__bfloat162float(v)); } \
  __OFFLOAD_D TYPE __bfloat162##NAME##_rz(__nv_bfloat16 v) { return (TYPE)OF_FLOAT##_rz(__bfloat162float(v)); } \
  __OFFLOAD_D TYPE __bfloat162##NAME##_rd(__nv_bfloat16 v) { return (TYPE)OF_FLOAT##_rd(__bfloat162float(v)); } \
  __OFFLOAD_D TYPE __bfloat162##NAME##_ru(__nv_bfloat16 v) { return (TYPE)OF_FLOAT##_ru(__bfloat162float(v)); }
__OFFLOAD_INTEGER(int, int, __float2int)
__OFFLOAD_INTEGER(uint, unsigned int, __float2uint)
__OFFLOAD_INTEGER(ll, long long, __float2ll)
__OFFLOAD_INTEGER(ull, unsigned long long, __float2ull)
#undef __OFFLOAD_INTEGER

// Pairs.
__OFFLOAD_HD __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
__OFFLOAD_HD __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
__OFFLOAD_HD __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 v) { return __nv_bfloat162(v, v); }
__OFFLOAD_HD __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
__OFFLOAD_HD __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
__OFFLOAD_HD __nv_bfloat162 __low2bfloat162(__nv_bfloat162 v) { return __nv_bfloat162(v.x, v.x); }
__OFFLOAD_HD __nv_bfloat162 __high2bfloat162(__nv_bfloat162 v) { return __nv_bfloat162(v.y, v.y); }
__OFFLOAD_HD __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.x, b.x); }
__OFFLOAD_HD __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.y, b.y); }
__OFFLOAD_HD __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 v) { return __nv_bfloat162(v.y, v.x); }

#define __OFFLOAD_T __nv_bfloat16
#define __OFFLOAD_T2 __nv_bfloat162
#define __OFFLOAD_OF __offload_bfloat16
#define __OFFLOAD_BITS __bfloat16_as_ushort
#define __OFFLOAD_OF_BITS __ushort_as_bfloat16
#define __OFFLOAD_TO_FLOAT __bfloat162float
#define __OFFLOAD_INFINITY 0x7f80
#define __OFFLOAD_NAN CUDART_NAN_BF16
#define __OFFLOAD_ZERO CUDART_ZERO_BF16
#define __OFFLOAD_ONE CUDART_ONE_BF16
// Below sm_90 a product and a sum are two instructions, each of which rounds; from there on ptxas fuses those of nvcc.
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 900
#define __OFFLOAD_CONTRACT "clang fp contract(fast)"
#else
#define __OFFLOAD_CONTRACT "clang fp contract(off)"
#endif
#ifdef __CUDA_NO_BFLOAT16_OPERATORS__
#define __OFFLOAD_HAS_OPERATORS 0
#else
#define __OFFLOAD_HAS_OPERATORS 1
#endif
#include "offload_numbers_16.h"

__OFFLOAD_D __nv_bfloat16 atomicAdd(__nv_bfloat16 *p, __nv_bfloat16 v) {
#ifdef __OFFLOAD_HAS_ATOMIC_BFLOAT16
  return __ushort_as_bfloat16(__offload_atomic_add_bfloat16(p, __bfloat16_as_ushort(v)));
#else
  unsigned short now = __scoped_atomic_load_n((unsigned short *)p, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  for (;;) {
    unsigned short sum = __bfloat16_as_ushort(__hadd(__ushort_as_bfloat16(now), v));
    unsigned short seen = atomicCAS((unsigned short *)p, now, sum);
    if (seen == now)
      return __ushort_as_bfloat16(seen);
    now = seen;
  }
#endif
}
__OFFLOAD_D __nv_bfloat162 atomicAdd(__nv_bfloat162 *p, __nv_bfloat162 v) {
  // Each half is atomic, and not the pair.
  return __nv_bfloat162(atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y));
}
#undef __OFFLOAD_HD
#undef __OFFLOAD_D
#include <offload_names_end.h>
