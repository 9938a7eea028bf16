// Numbers of 16 bits as `_Float16`: https://docs.nvidia.com/cuda/cuda-math-api/group__CUDA__MATH__INTRINSIC__HALF.html
#pragma once
#include <vector_types.h>
#define __CUDA_FP16_TYPES_EXIST__
#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)

typedef struct __align__(2) { unsigned short x; } __half_raw;
typedef struct __align__(4) { unsigned short x, y; } __half2_raw;

#define __OFFLOAD_HD static __host__ __device__ __forceinline__
#define __OFFLOAD_D static __device__ __forceinline__
// Right to a bit of a float, and so after rounding. No half is a subnormal float.
#define __OFFLOAD_SQRT __nvvm_sqrt_approx_ftz_f
#define __OFFLOAD_OF(TYPE) \
  __host__ __device__ __half(TYPE v) : __x((_Float16)v) {} \
  __host__ __device__ __half &operator=(TYPE v) { return *this = __half(v); }

struct __align__(2) __half {
  _Float16 __x;
  __half() = default;
  __host__ __device__ constexpr explicit __half(_Float16 v, int) : __x(v) {}
  __host__ __device__ constexpr __half(const __half_raw &raw) : __x(__builtin_bit_cast(_Float16, raw.x)) {}
  __OFFLOAD_OF(float) __OFFLOAD_OF(double)
  __OFFLOAD_OF(short) __OFFLOAD_OF(unsigned short) __OFFLOAD_OF(int) __OFFLOAD_OF(unsigned int)
  __OFFLOAD_OF(long) __OFFLOAD_OF(unsigned long) __OFFLOAD_OF(long long) __OFFLOAD_OF(unsigned long long)
  __host__ __device__ operator float() const { return (float)__x; }
  __host__ __device__ operator __half_raw() const { return {__builtin_bit_cast(unsigned short, __x)}; }
  // Zero of either sign is false.
  __host__ __device__ explicit operator bool() const { return __x != (_Float16)0; }
};
#undef __OFFLOAD_OF
typedef __half half;
typedef __half nv_half;
typedef __half __nv_half;
typedef _Float16 __offload_half2 __attribute__((ext_vector_type(2)));

struct __align__(4) __half2 {
  __half x, y;
  __half2() = default;
  __host__ __device__ __half2(const __half &x, const __half &y) : x(x), y(y) {}
  __host__ __device__ __half2(const __half2_raw &raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
  __host__ __device__ __half2(__offload_half2 v) : x(v.x, 0), y(v.y, 0) {}
  __host__ __device__ __offload_half2 vector() const { return __offload_half2{x.__x, y.__x}; }
  __host__ __device__ operator __half2_raw() const { return {((__half_raw)x).x, ((__half_raw)y).x}; }
};
typedef __half2 half2;
typedef __half2 nv_half2;
typedef __half2 __nv_half2;

__OFFLOAD_HD __half __offload_half(_Float16 v) { return __half(v, 0); }

// Conversions, to the nearest, or to even, but for those with another ending.
__OFFLOAD_HD __half __float2half(float v) { return __half(v); }
__OFFLOAD_HD __half __float2half_rn(float v) { return __half(v); }
__OFFLOAD_HD __half __double2half(double v) { return __half(v); }
__OFFLOAD_HD float __half2float(__half v) { return (float)v.__x; }
__OFFLOAD_HD __half2 __float2half2_rn(float v) { return __half2(__half(v), __half(v)); }
__OFFLOAD_HD __half2 __floats2half2_rn(float x, float y) { return __half2(__half(x), __half(y)); }
__OFFLOAD_HD __half2 __float22half2_rn(float2 v) { return __floats2half2_rn(v.x, v.y); }
__OFFLOAD_HD float2 __half22float2(__half2 v) { return make_float2(__half2float(v.x), __half2float(v.y)); }
__OFFLOAD_HD float __low2float(__half2 v) { return __half2float(v.x); }
__OFFLOAD_HD float __high2float(__half2 v) { return __half2float(v.y); }
__OFFLOAD_HD unsigned short __half_as_ushort(__half v) { return __builtin_bit_cast(unsigned short, v.__x); }
__OFFLOAD_HD short __half_as_short(__half v) { return __builtin_bit_cast(short, v.__x); }
__OFFLOAD_HD __half __ushort_as_half(unsigned short v) { return __offload_half(__builtin_bit_cast(_Float16, v)); }
__OFFLOAD_HD __half __short_as_half(short v) { return __offload_half(__builtin_bit_cast(_Float16, v)); }
__OFFLOAD_D __half __float2half_rz(float v) { return __ushort_as_half(__offload_half_towards_zero(v)); }
// From what is nearer to zero one step away from it.
__OFFLOAD_D __half __float2half_rd(float v) {
  __half nearer = __float2half_rz(v);
  return __half2float(nearer) > v ? __ushort_as_half(__half_as_ushort(nearer) + 1) : nearer;
}
__OFFLOAD_D __half __float2half_ru(float v) {
  __half nearer = __float2half_rz(v);
  return __half2float(nearer) < v ? __ushort_as_half(__half_as_ushort(nearer) + 1) : nearer;
}
// Out of range and NaN end as PTX has it:
// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-cvt
#define __OFFLOAD_INTEGER(NAME, TYPE, OF_FLOAT) \
  __OFFLOAD_HD __half __##NAME##2half_rn(TYPE v) { return __half(v); } \
  __OFFLOAD_D TYPE __half2##NAME##_rn(__half v) { return (TYPE)OF_FLOAT##_rn(__half2float(v)); } \
  __OFFLOAD_D TYPE __half2##NAME##_rz(__half v) { return (TYPE)OF_FLOAT##_rz(__half2float(v)); } \
  __OFFLOAD_D TYPE __half2##NAME##_rd(__half v) { return (TYPE)OF_FLOAT##_rd(__half2float(v)); } \
  __OFFLOAD_D TYPE __half2##NAME##_ru(__half v) { return (TYPE)OF_FLOAT##_ru(__half2float(v)); }
__OFFLOAD_INTEGER(int, int, __float2int)
__OFFLOAD_INTEGER(uint, unsigned int, __float2uint)
__OFFLOAD_INTEGER(ll, long long, __float2ll)
__OFFLOAD_INTEGER(ull, unsigned long long, __float2ull)
#undef __OFFLOAD_INTEGER
#define __OFFLOAD_SHORT(NAME, TYPE, LEAST, GREATEST) \
  __OFFLOAD_HD __half __##NAME##2half_rn(TYPE v) { return __half(v); } \
  __OFFLOAD_D TYPE __half2##NAME##_rn(__half v) { return (TYPE)max(LEAST, min(GREATEST, __half2int_rn(v))); } \
  __OFFLOAD_D TYPE __half2##NAME##_rz(__half v) { return (TYPE)max(LEAST, min(GREATEST, __half2int_rz(v))); }
__OFFLOAD_SHORT(short, short, -32768, 32767)
__OFFLOAD_SHORT(ushort, unsigned short, 0, 65535)
__OFFLOAD_D signed char __half2char_rz(__half v) { return (signed char)max(-128, min(127, __half2int_rz(v))); }
__OFFLOAD_D unsigned char __half2uchar_rz(__half v) { return (unsigned char)max(0, min(255, __half2int_rz(v))); }
#undef __OFFLOAD_SHORT

// Pairs.
__OFFLOAD_HD __half2 make_half2(__half x, __half y) { return __half2(x, y); }
__OFFLOAD_HD __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
__OFFLOAD_HD __half2 __half2half2(__half v) { return __half2(v, v); }
__OFFLOAD_HD __half __low2half(__half2 v) { return v.x; }
__OFFLOAD_HD __half __high2half(__half2 v) { return v.y; }
__OFFLOAD_HD __half2 __low2half2(__half2 v) { return __half2(v.x, v.x); }
__OFFLOAD_HD __half2 __high2half2(__half2 v) { return __half2(v.y, v.y); }
__OFFLOAD_HD __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
__OFFLOAD_HD __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
__OFFLOAD_HD __half2 __lowhigh2highlow(__half2 v) { return __half2(v.y, v.x); }

#define __OFFLOAD_T __half
#define __OFFLOAD_T2 __half2
#define __OFFLOAD_OF __offload_half
#define __OFFLOAD_BITS __half_as_ushort
#define __OFFLOAD_OF_BITS __ushort_as_half
#define __OFFLOAD_TO_FLOAT __half2float
#define __OFFLOAD_INFINITY 0x7c00
#define __OFFLOAD_NAN CUDART_NAN_FP16
#define __OFFLOAD_ZERO CUDART_ZERO_FP16
#define __OFFLOAD_ONE CUDART_ONE_FP16
#define __OFFLOAD_CONTRACT "clang fp contract(fast)"
#ifdef __CUDA_NO_HALF_OPERATORS__
#define __OFFLOAD_HAS_OPERATORS 0
#else
#define __OFFLOAD_HAS_OPERATORS 1
#endif
#include "offload_numbers_16.h"

__OFFLOAD_D __half atomicAdd(__half *p, __half v) {
#ifdef __OFFLOAD_HAS_ATOMICS_16
  return __ushort_as_half(__offload_atomic_add_half(p, __half_as_ushort(v)));
#else
  unsigned short now = __scoped_atomic_load_n((unsigned short *)p, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  for (;;) {
    unsigned short seen = atomicCAS((unsigned short *)p, now, __half_as_ushort(__hadd(__ushort_as_half(now), v)));
    if (seen == now)
      return __ushort_as_half(seen);
    now = seen;
  }
#endif
}
__OFFLOAD_D __half2 atomicAdd(__half2 *p, __half2 v) {
#ifdef __OFFLOAD_HAS_ATOMIC_HALF2
  return __builtin_bit_cast(__half2, __offload_atomic_add_half2(p, __builtin_bit_cast(unsigned int, v)));
#else
  // Each half is atomic, and not the pair.
  return __half2(atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y));
#endif
}
#undef __OFFLOAD_HD
#undef __OFFLOAD_D
