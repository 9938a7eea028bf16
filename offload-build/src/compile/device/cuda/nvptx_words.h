
// Arithmetic with the parts of a word, in whole registers. clang's headers use PTX's video instructions, which processors
// from sm_50 on do not have and ptxas expands part by part:
// https://docs.nvidia.com/cuda/cuda-math-api/cuda_math_api/group__CUDA__MATH__INTRINSIC__SIMD.html
// SIGNS has the highest bit of each part.
#define __OFFLOAD_WORDS(N, SIGNS, BITS) \
  /* All bits of each part whose highest bit is set in `flags`, which has no others. */ \
  __OFFLOAD_FN unsigned int __offload_spread##N(unsigned int flags) { return flags | (flags - (flags >> (BITS - 1))); } \
  __OFFLOAD_FN unsigned int __offload_vadd##N(unsigned int a, unsigned int b) { \
    return ((a & ~SIGNS) + (b & ~SIGNS)) ^ ((a ^ b) & SIGNS); \
  } \
  __OFFLOAD_FN unsigned int __offload_vsub##N(unsigned int a, unsigned int b) { \
    return ((a | SIGNS) - (b & ~SIGNS)) ^ ((a ^ ~b) & SIGNS); \
  } \
  /* The value of the largest magnitude with the sign of each part of `a`. */ \
  __OFFLOAD_FN unsigned int __offload_bound##N(unsigned int a) { return ~SIGNS + ((a & SIGNS) >> (BITS - 1)); } \
  __OFFLOAD_FN unsigned int __offload_vaddss##N(unsigned int a, unsigned int b) { \
    unsigned int sum = __offload_vadd##N(a, b); \
    unsigned int over = __offload_spread##N(~(a ^ b) & (a ^ sum) & SIGNS); \
    return (sum & ~over) | (__offload_bound##N(a) & over); \
  } \
  __OFFLOAD_FN unsigned int __offload_vsubss##N(unsigned int a, unsigned int b) { \
    unsigned int difference = __offload_vsub##N(a, b); \
    unsigned int over = __offload_spread##N((a ^ b) & (a ^ difference) & SIGNS); \
    return (difference & ~over) | (__offload_bound##N(a) & over); \
  } \
  __OFFLOAD_FN unsigned int __offload_vaddus##N(unsigned int a, unsigned int b) { \
    unsigned int sum = __offload_vadd##N(a, b); \
    return sum | __offload_spread##N(((a & b) | ((a | b) & ~sum)) & SIGNS); \
  } \
  __OFFLOAD_FN unsigned int __offload_vsubus##N(unsigned int a, unsigned int b) { \
    unsigned int difference = __offload_vsub##N(a, b); \
    return difference & ~__offload_spread##N(((~a & b) | (~(a ^ b) & difference)) & SIGNS); \
  } \
  /* Parts that are not zero: their low bits carry into the highest one. */ \
  __OFFLOAD_FN unsigned int __offload_vcmpne##N(unsigned int a, unsigned int b) { \
    unsigned int other = a ^ b; \
    return __offload_spread##N((((other & ~SIGNS) + ~SIGNS) | other) & SIGNS); \
  } \
  __OFFLOAD_FN unsigned int __offload_vcmpeq##N(unsigned int a, unsigned int b) { return ~__offload_vcmpne##N(a, b); }
__OFFLOAD_WORDS(2, 0x80008000u, 16)
__OFFLOAD_WORDS(4, 0x80808080u, 8)
#undef __OFFLOAD_WORDS
#define __vadd2 __offload_vadd2
#define __vsub2 __offload_vsub2
#define __vaddss2 __offload_vaddss2
#define __vsubss2 __offload_vsubss2
#define __vaddus2 __offload_vaddus2
#define __vsubus2 __offload_vsubus2
#define __vcmpne2 __offload_vcmpne2
#define __vcmpeq2 __offload_vcmpeq2
#define __vadd4 __offload_vadd4
#define __vsub4 __offload_vsub4
#define __vaddss4 __offload_vaddss4
#define __vsubss4 __offload_vsubss4
#define __vaddus4 __offload_vaddus4
#define __vsubus4 __offload_vsubus4
#define __vcmpne4 __offload_vcmpne4
#define __vcmpeq4 __offload_vcmpeq4
