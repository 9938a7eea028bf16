/* Functions of mathematics on `float` without branches, which are inlined into kernels: a loop over work-items around
 * them becomes one of vectors of any width, and constants stay in registers. The largest error of each is below two units
 * in the last place, on CPUs that have fused multiplication and addition; OpenCL C allows three to sixteen. PoCL's library
 * computes with twice the precision.
 *
 * Polynomials are of least relative error (Remez), with coefficients rounded to `float`. Subnormal numbers, infinities
 * and NaN have their right results. `math_functions.rs` divides the file: what stands before the first public function is
 * for all of them. `condition ? a : b` of variables is no branch.
 */
#define OFFLOAD_PUBLIC __attribute__((overloadable, always_inline))
/* The sum of this and a number is rounded to an integer, which the low bits hold. */
#define OFFLOAD_ROUND 0x1.8p23f
/* NaN stays what it is. */
static inline float __attribute__((always_inline)) offload_clamp(float x, float limit) {
  float least = -limit;
  x = x > limit ? limit : x;
  return x < least ? least : x;
}
static inline float __attribute__((always_inline)) offload_exp(float r) {
  float p = 0x1.6db5bep-10f;
  p = __builtin_fmaf(p, r, 0x1.123c78p-7f);
  p = __builtin_fmaf(p, r, 0x1.55545cp-5f);
  p = __builtin_fmaf(p, r, 0x1.55548ep-3f);
  p = __builtin_fmaf(p, r, 0.5f);
  return __builtin_fmaf(p, r * r, r) + 1.0f;
}
static inline float __attribute__((always_inline)) offload_scale(float p, float shifted, float x) {
  bool down = x < 0.0f;
  int bias = down ? (127 + 64) << 23 : (127 - 64) << 23;
  float rest = down ? 0x1p-64f : 0x1p64f;
  return p * as_float((int)((uint)as_int(shifted) << 23) + bias) * rest;
}
static inline float __attribute__((always_inline)) offload_reduce(float x, float *shifted) {
  *shifted = __builtin_fmaf(x, 0x1.715476p+0f, OFFLOAD_ROUND);
  float n = *shifted - OFFLOAD_ROUND;
  float r = __builtin_fmaf(n, -0x1.62e43p-1f, x);
  return __builtin_fmaf(n, 0x1.05c61p-29f, r);
}
static inline float __attribute__((always_inline)) offload_exp_moderate(float x) {
  float shifted;
  float r = offload_reduce(x, &shifted);
  return offload_exp(r) * as_float((int)((uint)as_int(shifted) << 23) + (127 << 23));
}
static inline float __attribute__((always_inline)) offload_mantissa(float x, float *n) {
  bool small = x < 0x1p-126f;
  float scale = small ? 0x1p23f : 1.0f;
  int less = small ? 23 : 0;
  int bits = as_int(x * scale) - 0x3f3504f3;
  *n = (float)((bits >> 23) - less);
  return as_float((bits & 0x7fffff) + 0x3f3504f3) - 1.0f;
}
static inline float __attribute__((always_inline)) offload_log(float r) {
  float p = -0x1.38b646p-4f;
  p = __builtin_fmaf(p, r, 0x1.055ba2p-3f);
  p = __builtin_fmaf(p, r, -0x1.0d8532p-3f);
  p = __builtin_fmaf(p, r, 0x1.22da14p-3f);
  p = __builtin_fmaf(p, r, -0x1.547246p-3f);
  p = __builtin_fmaf(p, r, 0x1.99a008p-3f);
  p = __builtin_fmaf(p, r, -0x1.000226p-2f);
  p = __builtin_fmaf(p, r, 0x1.555554p-2f);
  return r * r * __builtin_fmaf(p, r, -0.5f);
}
static inline float __attribute__((always_inline)) offload_log_special(float x, float y) {
  float of_others = x == 0.0f ? -INFINITY : NAN;
  y = x == INFINITY ? x : y;
  return x > 0.0f ? y : of_others;
}
OFFLOAD_PUBLIC float exp(float x) {
  float shifted;
  float r = offload_reduce(offload_clamp(x, 130.0f), &shifted);
  return offload_scale(offload_exp(r), shifted, x);
}
OFFLOAD_PUBLIC float exp2(float x) {
  float in = offload_clamp(x, 190.0f);
  float shifted = in + OFFLOAD_ROUND;
  float r = in - (shifted - OFFLOAD_ROUND);
  float p = 0x1.43ea7ap-13f;
  p = __builtin_fmaf(p, r, 0x1.5f5008p-10f);
  p = __builtin_fmaf(p, r, 0x1.3b2a72p-7f);
  p = __builtin_fmaf(p, r, 0x1.c6aebep-5f);
  p = __builtin_fmaf(p, r, 0x1.ebfbep-3f);
  p = __builtin_fmaf(p, r, 0x1.62e43p-1f);
  return offload_scale(__builtin_fmaf(p, r, 1.0f), shifted, x);
}
OFFLOAD_PUBLIC float exp10(float x) {
  float in = offload_clamp(x, 57.0f);
  float shifted = __builtin_fmaf(in, 0x1.a934fp+1f, OFFLOAD_ROUND);
  float n = shifted - OFFLOAD_ROUND;
  float r = __builtin_fmaf(n, -0x1.344136p-2f, in);
  r = __builtin_fmaf(n, 0x1.ec10cp-27f, r);
  float p = 0x1.a9153cp-3f;
  p = __builtin_fmaf(p, r, 0x1.15925p-1f);
  p = __builtin_fmaf(p, r, 0x1.2bd72p+0f);
  p = __builtin_fmaf(p, r, 0x1.046f5p+1f);
  p = __builtin_fmaf(p, r, 0x1.53524cp+1f);
  p = __builtin_fmaf(p, r, 0x1.26bb1cp+1f);
  return offload_scale(__builtin_fmaf(p, r, 1.0f), shifted, x);
}
OFFLOAD_PUBLIC float log(float x) {
  float n;
  float r = offload_mantissa(x, &n);
  float rest = __builtin_fmaf(n, -0x1.05c61p-29f, offload_log(r));
  return offload_log_special(x, __builtin_fmaf(n, 0x1.62e43p-1f, r + rest));
}
OFFLOAD_PUBLIC float log2(float x) {
  float n;
  float r = offload_mantissa(x, &n);
  float y = r + offload_log(r);
  return offload_log_special(x, __builtin_fmaf(y, 0x1.715476p+0f, __builtin_fmaf(y, 0x1.4ae0cp-26f, n)));
}
OFFLOAD_PUBLIC float log10(float x) {
  float n;
  float r = offload_mantissa(x, &n);
  float y = r + offload_log(r);
  float low = __builtin_fmaf(n, -0x1.ec10cp-27f, y * -0x1.5b235ep-27f);
  return offload_log_special(x, __builtin_fmaf(n, 0x1.344136p-2f, __builtin_fmaf(y, 0x1.bcb7b2p-2f, low)));
}
OFFLOAD_PUBLIC float erf(float x) {
  float t = __builtin_fabsf(x);
  float s = x * x;
  float p = 0x1.49695ep-14f;
  p = __builtin_fmaf(p, s, -0x1.a3f6b8p-11f);
  p = __builtin_fmaf(p, s, 0x1.5405aap-8f);
  p = __builtin_fmaf(p, s, -0x1.b7f90cp-6f);
  p = __builtin_fmaf(p, s, 0x1.ce2cf8p-4f);
  p = __builtin_fmaf(p, s, -0x1.81273ep-2f);
  p = __builtin_fmaf(p, s, 0x1.06eba8p-3f);
  float near = __builtin_fmaf(p, x, x);
  float c = t > 4.0f ? 4.0f : t;
  float q = 0x1.d47ec8p-17f;
  q = __builtin_fmaf(q, c, -0x1.6f9ecep-12f);
  q = __builtin_fmaf(q, c, 0x1.ec7fbcp-9f);
  q = __builtin_fmaf(q, c, -0x1.896176p-6f);
  q = __builtin_fmaf(q, c, 0x1.b459bp-4f);
  q = __builtin_fmaf(q, c, 0x1.451abap-1f);
  q = __builtin_fmaf(q, c, 0x1.20f21cp+0f);
  float far = __builtin_fmaf(-1.0f, offload_exp_moderate(-c * q), 1.0f);
  far = __builtin_copysignf(far, x);
  return t < 1.0f ? near : far;
}
OFFLOAD_PUBLIC float tanh(float x) {
  float t = __builtin_fabsf(x);
  float s = x * x;
  float p = -0x1.75e11cp-8f;
  p = __builtin_fmaf(p, s, 0x1.52267cp-6f);
  p = __builtin_fmaf(p, s, -0x1.b83c58p-5f);
  p = __builtin_fmaf(p, s, 0x1.110726p-3f);
  p = __builtin_fmaf(p, s, -0x1.555532p-2f);
  float near = __builtin_fmaf(p * s, x, x);
  float c = t > 10.0f ? 10.0f : t;
  float far = 1.0f - 2.0f / (offload_exp_moderate(2.0f * c) + 1.0f);
  far = __builtin_copysignf(far, x);
  return t < 0.625f ? near : far;
}
