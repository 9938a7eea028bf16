#pragma OPENCL EXTENSION cl_khr_fp64 : enable
// A loop over work-items is vectorised only if no call is left in it, and several calls of a function as long as `erf`
// would not be inlined.
#define OCML_FUNCTION __attribute__((always_inline))

// PoCL's function never reaches 1, which C99 asks for at infinity. From these numbers on 1 is nearest.
static float __attribute__((overloadable)) host_tanh(float x) { return fabs(x) > 9.02f ? copysign(1.0f, x) : tanh(x); }
static double __attribute__((overloadable)) host_tanh(double x) { return fabs(x) > 19.07 ? copysign(1.0, x) : tanh(x); }
#undef tanh
#define tanh host_tanh

// PoCL's functions with a second result are for pointers to no named memory alone.
#define HOST_SECOND_RESULTS(TYPE)                                                                     \
  static TYPE __attribute__((overloadable)) host_sincos(TYPE x, __private TYPE *cosine) {             \
    *cosine = cos(x);                                                                                 \
    return sin(x);                                                                                    \
  }                                                                                                   \
  static TYPE __attribute__((overloadable)) host_modf(TYPE x, __private TYPE *whole) {                \
    *whole = trunc(x);                                                                                \
    return copysign(isinf(x) ? (TYPE)0 : x - *whole, x);                                              \
  }                                                                                                   \
  /* Three bits of the quotient, as CUDA has it. Each difference is exact. */                         \
  static TYPE __attribute__((overloadable)) host_remquo(TYPE x, TYPE y, __private int *quotient) {    \
    TYPE divisor = fabs(y), eightfold = 8 * divisor;                                                  \
    TYPE rest = isinf(eightfold) ? fabs(x) : fmod(fabs(x), eightfold);                                \
    int count = 0;                                                                                    \
    *quotient = 0;                                                                                    \
    if (isnan(x) || isnan(y) || isinf(x) || y == 0) return (TYPE)NAN;                                 \
    if (isinf(y)) return x;                                                                           \
    for (int step = 4; step > 0; step /= 2) {                                                         \
      if (rest < step * divisor) continue;                                                            \
      rest -= step * divisor;                                                                         \
      count += step;                                                                                  \
    }                                                                                                 \
    if (rest > divisor - rest || (rest == divisor - rest && count % 2 == 1)) {                        \
      rest -= divisor;                                                                                \
      count++;                                                                                        \
    }                                                                                                 \
    *quotient = signbit(x) == signbit(y) ? count % 8 : -(count % 8);                                  \
    return signbit(x) ? -rest : rest;                                                                 \
  }
HOST_SECOND_RESULTS(float)
HOST_SECOND_RESULTS(double)
#undef sincos
#undef modf
#undef remquo
#define sincos host_sincos
#define modf host_modf
#define remquo host_remquo

// Instructions of AMD's GPUs that clang's headers use.
float __offload_ldexp_f32(float x, int exponent) { return ldexp(x, exponent); }
double __offload_ldexp_f64(double x, int exponent) { return ldexp(x, exponent); }

#if defined(__FMA__) || defined(__aarch64__)
#define OCML_NCDF_F32
// The normal distribution without branches: of -|x| it is exp(-x * x / 2) / 2, scaled by a function of |x| whose product with
// 1 + |x| is a polynomial of (|x| - 6) / (|x| + 6) of least relative error (Remez). The largest error is below three units
// in the last place; CUDA allows five. Quotients and the square are corrected by what their roundings lose.
OCML_FUNCTION float __ocml_ncdf_f32(float x) {
  float y = fabs(x);
  float inverse = 1.0f / (y + 6.0f), q = (y - 6.0f) * inverse;
  q = __builtin_fmaf(inverse, __builtin_fmaf(q, -y, __builtin_fmaf(q + 1.0f, -6.0f, y)), q);
  float p = -0.00126884718f;
  p = __builtin_fmaf(p, q, 0.00705732012f);
  p = __builtin_fmaf(p, q, -0.0135876174f);
  p = __builtin_fmaf(p, q, 0.0261880116f);
  p = __builtin_fmaf(p, q, -0.0397760004f);
  p = __builtin_fmaf(p, q, 0.0451992351f);
  p = __builtin_fmaf(p, q, -0.0322515069f);
  p = __builtin_fmaf(p, q, -0.00874585779f);
  p = __builtin_fmaf(p, q, 0.0796215014f);
  p = __builtin_fmaf(p, q, -0.170050759f);
  p = __builtin_fmaf(p, q, -0.0930895901f);
  float slope = 1.0f / (y + 1.0f), scale = __builtin_fmaf(p, slope, slope);
  scale = __builtin_fmaf((p - scale) + __builtin_fmaf(scale, -y, 1.0f), slope, scale);
  float square = y * y, rest = __builtin_fmaf(y, y, -square);
  float e = exp(-0.5f * square);
  float tail = 0.5f * scale * __builtin_fmaf(e, -0.5f * rest, e);
  tail = y > 14.5f ? 0.0f : tail;
  float result = x > 0.0f ? 1.0f - tail : tail;
  return isnan(x) ? x : result;
}
#endif
