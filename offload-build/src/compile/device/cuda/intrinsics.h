
// Intrinsics that clang's headers have for NVIDIA alone:
// https://docs.nvidia.com/cuda/cuda-math-api/cuda_math_api/group__CUDA__MATH__INTRINSIC__INT.html
// https://docs.nvidia.com/cuda/cuda-math-api/cuda_math_api/group__CUDA__MATH__INTRINSIC__CAST.html
__OFFLOAD_FN int __clz(int v) { return v == 0 ? 32 : __builtin_clz(v); }
__OFFLOAD_FN int __clzll(long long v) { return v == 0 ? 64 : __builtin_clzll(v); }
__OFFLOAD_FN int __ffs(int v) { return __builtin_ffs(v); }
__OFFLOAD_FN int __ffsll(long long v) { return __builtin_ffsll(v); }
__OFFLOAD_FN int __popc(unsigned int v) { return __builtin_popcount(v); }
__OFFLOAD_FN int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
__OFFLOAD_FN unsigned int __brev(unsigned int v) { return __builtin_bitreverse32(v); }
__OFFLOAD_FN unsigned long long __brevll(unsigned long long v) { return __builtin_bitreverse64(v); }
__OFFLOAD_FN int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
__OFFLOAD_FN unsigned int __umul24(unsigned int a, unsigned int b) { return (a & 0xffffff) * (b & 0xffffff); }
__OFFLOAD_FN int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
__OFFLOAD_FN unsigned int __umulhi(unsigned int a, unsigned int b) {
  return (unsigned int)((unsigned long long)a * b >> 32);
}
__OFFLOAD_FN long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
__OFFLOAD_FN unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
__OFFLOAD_FN int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
__OFFLOAD_FN int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
__OFFLOAD_FN unsigned int __uhadd(unsigned int a, unsigned int b) { return ((unsigned long long)a + b) >> 1; }
__OFFLOAD_FN unsigned int __urhadd(unsigned int a, unsigned int b) { return ((unsigned long long)a + b + 1) >> 1; }
__OFFLOAD_FN unsigned int __sad(int a, int b, unsigned int c) {
  return c + (a > b ? (unsigned int)a - (unsigned int)b : (unsigned int)b - (unsigned int)a);
}
__OFFLOAD_FN unsigned int __usad(unsigned int a, unsigned int b, unsigned int c) { return c + (a > b ? a - b : b - a); }
// Of eight bytes each digit of `selector` takes one, or with its bit 3 the sign of one.
__OFFLOAD_FN unsigned int __byte_perm(unsigned int a, unsigned int b, unsigned int selector) {
  unsigned long long bytes = (unsigned long long)b << 32 | a;
  unsigned int out = 0;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    unsigned int digit = selector >> i * 4;
    int byte = (signed char)(bytes >> (digit & 7) * 8);
    out |= (unsigned int)(unsigned char)(digit & 8 ? byte >> 7 : byte) << i * 8;
  }
  return out;
}
// Shifts of two words: by the last five bits of `by`, or with `c` by 32 at most.
__OFFLOAD_FN unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int by) {
  return (unsigned int)(((unsigned long long)high << 32 | low) << (by & 31) >> 32);
}
__OFFLOAD_FN unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int by) {
  return by >= 32 ? low : __funnelshift_l(low, high, by);
}
__OFFLOAD_FN unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int by) {
  return (unsigned int)(((unsigned long long)high << 32 | low) >> (by & 31));
}
__OFFLOAD_FN unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int by) {
  return by >= 32 ? high : __funnelshift_r(low, high, by);
}

extern "C" {
__device__ __forceinline__ void *memcpy(void *to, const void *from, size_t size) {
  return __builtin_memcpy(to, from, size);
}
__device__ __forceinline__ void *memset(void *memory, int value, size_t size) {
  return __builtin_memset(memory, value, size);
}
}

__OFFLOAD_FN int __float_as_int(float v) { return __builtin_bit_cast(int, v); }
__OFFLOAD_FN unsigned int __float_as_uint(float v) { return __builtin_bit_cast(unsigned int, v); }
__OFFLOAD_FN float __int_as_float(int v) { return __builtin_bit_cast(float, v); }
__OFFLOAD_FN float __uint_as_float(unsigned int v) { return __builtin_bit_cast(float, v); }
__OFFLOAD_FN long long __double_as_longlong(double v) { return __builtin_bit_cast(long long, v); }
__OFFLOAD_FN double __longlong_as_double(long long v) { return __builtin_bit_cast(double, v); }
__OFFLOAD_FN int __double2hiint(double v) { return (int)(__double_as_longlong(v) >> 32); }
__OFFLOAD_FN int __double2loint(double v) { return (int)__double_as_longlong(v); }
__OFFLOAD_FN double __hiloint2double(int high, int low) {
  return __longlong_as_double((long long)((unsigned long long)(unsigned int)high << 32 | (unsigned int)low));
}

// From float to integer: what is out of range ends at the nearest number, and NaN as PTX has it
// (https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-cvt).
template <typename T, typename F> __OFFLOAD_FN F __offload_above() {
  // The number above the greatest integer is a float, and that one may be none.
  constexpr int SIGN = (T)-1 < 0 ? 1 : 0;
  return (F)((T)1 << (sizeof(T) * 8 - 1 - SIGN)) * 2;
}
template <typename T, typename F> __OFFLOAD_FN T __offload_saturated(F whole) {
  constexpr T TOP = (T)(1ull << (sizeof(T) * 8 - 1));
  constexpr T LEAST = (T)-1 < 0 ? TOP : 0;
  if (whole != whole)
    return sizeof(T) == 8 || sizeof(F) == 8 ? TOP : 0;
  if (whole >= __offload_above<T, F>())
    return (T)~LEAST;
  return whole <= (F)LEAST ? LEAST : (T)whole;
}
#define __OFFLOAD_TO_INTEGER(NAME, F, T, END) \
  __OFFLOAD_FN T NAME##_rn(F v) { return __offload_saturated<T>(__builtin_rint##END(v)); } \
  __OFFLOAD_FN T NAME##_rz(F v) { return __offload_saturated<T>(__builtin_trunc##END(v)); } \
  __OFFLOAD_FN T NAME##_rd(F v) { return __offload_saturated<T>(__builtin_floor##END(v)); } \
  __OFFLOAD_FN T NAME##_ru(F v) { return __offload_saturated<T>(__builtin_ceil##END(v)); }
__OFFLOAD_TO_INTEGER(__float2int, float, int, f)
__OFFLOAD_TO_INTEGER(__float2uint, float, unsigned int, f)
__OFFLOAD_TO_INTEGER(__float2ll, float, long long, f)
__OFFLOAD_TO_INTEGER(__float2ull, float, unsigned long long, f)
__OFFLOAD_TO_INTEGER(__double2int, double, int, )
__OFFLOAD_TO_INTEGER(__double2uint, double, unsigned int, )
__OFFLOAD_TO_INTEGER(__double2ll, double, long long, )
__OFFLOAD_TO_INTEGER(__double2ull, double, unsigned long long, )
#undef __OFFLOAD_TO_INTEGER
__OFFLOAD_FN long long llrintf(float v) { return __float2ll_rn(v); }
__OFFLOAD_FN long long llroundf(float v) { return __offload_saturated<long long>(__builtin_roundf(v)); }
__OFFLOAD_FN long long llrint(double v) { return __double2ll_rn(v); }
__OFFLOAD_FN long long llround(double v) { return __offload_saturated<long long>(__builtin_round(v)); }
__OFFLOAD_FN long lrintf(float v) { return llrintf(v); }
__OFFLOAD_FN long lroundf(float v) { return llroundf(v); }
__OFFLOAD_FN long lrint(double v) { return llrint(v); }
__OFFLOAD_FN long lround(double v) { return llround(v); }

// Conversions with a direction, from the nearest: one step back if it has passed the number.
enum __offload_direction { __OFFLOAD_ZERO, __OFFLOAD_DOWN, __OFFLOAD_UP };
template <__offload_direction TO, typename Bits, typename F> __OFFLOAD_FN F __offload_step(F nearest, int passed) {
  // `passed` is 1 for a result above the number, -1 for one below.
  Bits bits = __builtin_bit_cast(Bits, nearest);
  bool is_negative = bits < 0;
  bool down = passed > 0 && (TO == __OFFLOAD_DOWN || (TO == __OFFLOAD_ZERO && !is_negative));
  bool up = passed < 0 && (TO == __OFFLOAD_UP || (TO == __OFFLOAD_ZERO && is_negative));
  if (down || up)
    bits += down == !is_negative ? -1 : 1;
  return __builtin_bit_cast(F, bits);
}
template <__offload_direction TO, typename F, typename Bits, typename T> __OFFLOAD_FN F __offload_directed(T v) {
  F nearest = (F)v;
  bool is_beyond = nearest >= __offload_above<T, F>();
  T back = is_beyond ? v : (T)nearest;
  return __offload_step<TO, Bits>(nearest, is_beyond || back > v ? 1 : back < v ? -1 : 0);
}
#define __OFFLOAD_FROM_INTEGER(NAME, T, F, BITS) \
  __OFFLOAD_FN F NAME##_rn(T v) { return (F)v; } \
  __OFFLOAD_FN F NAME##_rz(T v) { return __offload_directed<__OFFLOAD_ZERO, F, BITS>(v); } \
  __OFFLOAD_FN F NAME##_rd(T v) { return __offload_directed<__OFFLOAD_DOWN, F, BITS>(v); } \
  __OFFLOAD_FN F NAME##_ru(T v) { return __offload_directed<__OFFLOAD_UP, F, BITS>(v); }
__OFFLOAD_FROM_INTEGER(__int2float, int, float, int)
__OFFLOAD_FROM_INTEGER(__uint2float, unsigned int, float, int)
__OFFLOAD_FROM_INTEGER(__ll2float, long long, float, int)
__OFFLOAD_FROM_INTEGER(__ull2float, unsigned long long, float, int)
__OFFLOAD_FROM_INTEGER(__ll2double, long long, double, long long)
__OFFLOAD_FROM_INTEGER(__ull2double, unsigned long long, double, long long)
#undef __OFFLOAD_FROM_INTEGER
__OFFLOAD_FN double __int2double_rn(int v) { return v; }
__OFFLOAD_FN double __uint2double_rn(unsigned int v) { return v; }
#define __OFFLOAD_FROM_DOUBLE(NAME, TO) \
  __OFFLOAD_FN float NAME(double v) { \
    float nearest = (float)v; \
    return __offload_step<TO, int>(nearest, nearest > v ? 1 : nearest < v ? -1 : 0); \
  }
__OFFLOAD_FN float __double2float_rn(double v) { return (float)v; }
__OFFLOAD_FROM_DOUBLE(__double2float_rz, __OFFLOAD_ZERO)
__OFFLOAD_FROM_DOUBLE(__double2float_rd, __OFFLOAD_DOWN)
__OFFLOAD_FROM_DOUBLE(__double2float_ru, __OFFLOAD_UP)
#undef __OFFLOAD_FROM_DOUBLE
__OFFLOAD_FN unsigned short __offload_half_towards_zero(float v) {
  _Float16 nearest = (_Float16)v;
  bool passed = __builtin_fabsf((float)nearest) > __builtin_fabsf(v);
  return (unsigned short)(__builtin_bit_cast(unsigned short, nearest) - passed);
}

// Arithmetic that is no part of a fused operation, and rounds to the nearest.
#define __OFFLOAD_ROUNDED(NAME, TYPE, OPERATOR) \
  __OFFLOAD_FN TYPE NAME(TYPE a, TYPE b) { _Pragma("clang fp contract(off)") return a OPERATOR b; }
__OFFLOAD_ROUNDED(__fadd_rn, float, +) __OFFLOAD_ROUNDED(__fsub_rn, float, -) __OFFLOAD_ROUNDED(__fmul_rn, float, *)
__OFFLOAD_ROUNDED(__dadd_rn, double, +) __OFFLOAD_ROUNDED(__dsub_rn, double, -) __OFFLOAD_ROUNDED(__dmul_rn, double, *)
#undef __OFFLOAD_ROUNDED
__OFFLOAD_FN float __fsqrt_rn(float v) { return __builtin_sqrtf(v); }
__OFFLOAD_FN double __dsqrt_rn(double v) { return __builtin_sqrt(v); }
// NaN is 0.
__OFFLOAD_FN float __saturatef(float v) { return v > 0 ? (v < 1 ? v : 1) : 0; }
