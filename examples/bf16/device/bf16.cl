// Two variants of each function: the device's own instruction, and one for every device. Both give the same bits.
#include "bf16.h"

#if defined(__NVPTX__) && defined(__CUDA_ARCH__) && !defined(BF16_FALLBACK)
// https://docs.nvidia.com/cuda/parallel-thread-execution/#floating-point-instructions-add: from sm_90 on.
#define BF16_NATIVE (__CUDA_ARCH__ >= 900)
#else
#define BF16_NATIVE 0
#endif

// A `float` has more than twice the digits: all numbers are there, and what is rounded to a `float` first is rounded right.
float bf16_to_float(ushort x) { return as_float((uint)x << 16); }

#if BF16_NATIVE

ushort bf16_from_float(float x) {
  ushort y;
  __asm__("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}

ushort bf16_add(ushort a, ushort b) {
  ushort y;
  __asm__("add.rn.bf16 %0, %1, %2;" : "=h"(y) : "h"(a), "h"(b));
  return y;
}

ushort bf16_sub(ushort a, ushort b) {
  ushort y;
  __asm__("sub.rn.bf16 %0, %1, %2;" : "=h"(y) : "h"(a), "h"(b));
  return y;
}

ushort bf16_mul(ushort a, ushort b) {
  ushort y;
  __asm__("mul.rn.bf16 %0, %1, %2;" : "=h"(y) : "h"(a), "h"(b));
  return y;
}

#else

ushort bf16_from_float(float x) {
  uint bits = as_uint(x);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return 0x7fff;
  // Half of the last place, and less than half where the last digit is even. A carry becomes the next exponent.
  return (ushort)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

ushort bf16_add(ushort a, ushort b) { return bf16_from_float(bf16_to_float(a) + bf16_to_float(b)); }

ushort bf16_sub(ushort a, ushort b) { return bf16_from_float(bf16_to_float(a) - bf16_to_float(b)); }

ushort bf16_mul(ushort a, ushort b) { return bf16_from_float(bf16_to_float(a) * bf16_to_float(b)); }

#endif
