/* Conversions of half, for CPUs without instructions for them (F16C): clang calls these functions of compiler-rt, with
 * which an image is not linked (https://github.com/llvm/llvm-project/tree/main/compiler-rt/lib/builtins).
 * Numbers are rounded to nearest, ties to even; NaNs become quiet and keep the upper bits of their payload, as F16C's do.
 */
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

static _Float16 half_of(u16 bits) {
  union { u16 bits; _Float16 value; } half = {bits};
  return half.value;
}

/* The upper bits of a significand, rounded. */
static u16 rounded(u64 significand, u32 shift) {
  u64 upper = significand >> shift, rest = significand & ((1ull << shift) - 1), middle = 1ull << (shift - 1);
  return (u16)(upper + (rest > middle || (rest == middle && (upper & 1))));
}

_Float16 __truncsfhf2(float x) {
  union { float value; u32 bits; } from = {x};
  u32 sign = from.bits >> 16 & 0x8000, size = from.bits & 0x7fffffff;
  if (size > 0x7f800000) return half_of(sign | 0x7e00 | (size >> 13 & 0x3ff));
  if (size >= 0x477ff000) return half_of(sign | 0x7c00);
  if (size >= 0x38800000) return half_of(sign | rounded(size - 0x38000000, 13));
  if (size < 0x33000000) return half_of(sign);
  return half_of(sign | rounded((size & 0x7fffff) | 0x800000, 126 - (size >> 23)));
}

_Float16 __truncdfhf2(double x) {
  union { double value; u64 bits; } from = {x};
  u64 sign = from.bits >> 48 & 0x8000, size = from.bits & 0x7fffffffffffffff;
  if (size > 0x7ff0000000000000) return half_of(sign | 0x7e00 | (size >> 42 & 0x3ff));
  if (size >= 0x40effe0000000000) return half_of(sign | 0x7c00);
  if (size >= 0x3f10000000000000) return half_of(sign | rounded(size - 0x3f00000000000000, 42));
  if (size < 0x3e60000000000000) return half_of(sign);
  return half_of(sign | rounded((size & 0xfffffffffffff) | 0x10000000000000, 1051 - (u32)(size >> 52)));
}

float __extendhfsf2(_Float16 x) {
  union { _Float16 value; u16 bits; } from = {x};
  u32 sign = (u32)(from.bits & 0x8000) << 16, exponent = from.bits >> 10 & 31, significand = from.bits & 0x3ff;
  union { u32 bits; float value; } to;
  if (exponent == 31)
    to.bits = sign | 0x7f800000 | significand << 13 | (significand ? 0x400000 : 0);
  else if (exponent)
    to.bits = sign | (exponent + 112) << 23 | significand << 13;
  else {
    /* Subnormal: a product with a power of two is exact. */
    to.value = (float)significand * 0x1p-24f;
    to.bits |= sign;
  }
  return to.value;
}

double __extendhfdf2(_Float16 x) { return __extendhfsf2(x); }

/* The same of bfloat16, for CPUs without AVX512-BF16. */
static __bf16 bfloat_of(u32 bits) {
  union { u16 bits; __bf16 value; } bfloat = {(u16)bits};
  return bfloat.value;
}

__bf16 __truncsfbf2(float x) {
  union { float value; u32 bits; } from = {x};
  if ((from.bits & 0x7fffffff) > 0x7f800000) return bfloat_of(from.bits >> 16 | 0x40);
  return bfloat_of((from.bits + 0x7fff + (from.bits >> 16 & 1)) >> 16);
}

__bf16 __truncdfbf2(double x) {
  /* A float rounded to odd keeps what decides how bfloat16 is rounded. */
  union { float value; u32 bits; } nearest = {(float)x};
  double back = nearest.value;
  if (back == x || x != x) return __truncsfbf2(nearest.value);
  if ((nearest.bits & 1) == 0) {
    int is_further = (back > x) == (back > 0);
    nearest.bits += is_further ? -1 : 1;
  }
  return __truncsfbf2(nearest.value);
}
