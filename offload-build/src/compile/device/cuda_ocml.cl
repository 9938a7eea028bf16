// Functions of AMD's device library that clang's headers call, by those of OpenCL C. It has none of Bessel's, and none
// that inverts another: https://github.com/ROCm/llvm-project/blob/amd-staging/amd/device-libs/doc/OCML.md
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

// The CPU has another (host_ocml.cl).
#ifndef OCML_FUNCTION
#define OCML_FUNCTION
#endif
#define OCML_UNARY(NAME, FUNCTION)                                                                    \
  OCML_FUNCTION float __ocml_##NAME##_f32(float x) { return FUNCTION(x); }                            \
  OCML_FUNCTION double __ocml_##NAME##_f64(double x) { return FUNCTION(x); }
#define OCML_BINARY(NAME)                                                                             \
  OCML_FUNCTION float __ocml_##NAME##_f32(float x, float y) { return NAME(x, y); }                    \
  OCML_FUNCTION double __ocml_##NAME##_f64(double x, double y) { return NAME(x, y); }
OCML_UNARY(acos, acos) OCML_UNARY(acosh, acosh) OCML_UNARY(asin, asin) OCML_UNARY(asinh, asinh)
OCML_UNARY(atan, atan) OCML_UNARY(atanh, atanh) OCML_UNARY(cbrt, cbrt) OCML_UNARY(cos, cos)
OCML_UNARY(cosh, cosh) OCML_UNARY(cospi, cospi) OCML_UNARY(erf, erf) OCML_UNARY(erfc, erfc)
OCML_UNARY(exp, exp) OCML_UNARY(exp10, exp10) OCML_UNARY(exp2, exp2) OCML_UNARY(expm1, expm1)
OCML_UNARY(lgamma, lgamma) OCML_UNARY(log, log) OCML_UNARY(log10, log10) OCML_UNARY(log1p, log1p)
OCML_UNARY(log2, log2) OCML_UNARY(rsqrt, rsqrt) OCML_UNARY(sin, sin) OCML_UNARY(sinh, sinh)
OCML_UNARY(sinpi, sinpi) OCML_UNARY(tan, tan) OCML_UNARY(tanh, tanh) OCML_UNARY(tgamma, tgamma)
OCML_BINARY(atan2) OCML_BINARY(fdim) OCML_BINARY(fmod) OCML_BINARY(hypot) OCML_BINARY(nextafter)
OCML_BINARY(pow) OCML_BINARY(remainder)

float __ocml_native_cos_f32(float x) { return native_cos(x); }
float __ocml_native_sin_f32(float x) { return native_sin(x); }
float __ocml_native_sqrt_f32(float x) { return native_sqrt(x); }
int __ocml_ilogb_f32(float x) { return ilogb(x); }
int __ocml_ilogb_f64(double x) { return ilogb(x); }
float __ocml_pown_f32(float x, int y) { return pown(x, y); }
double __ocml_pown_f64(double x, int y) { return pown(x, y); }

// With a second result.
float __ocml_modf_f32(float x, __private float *whole) { return modf(x, whole); }
double __ocml_modf_f64(double x, __private double *whole) { return modf(x, whole); }
float __ocml_remquo_f32(float x, float y, __private int *quotient) { return remquo(x, y, quotient); }
double __ocml_remquo_f64(double x, double y, __private int *quotient) { return remquo(x, y, quotient); }
float __ocml_sincos_f32(float x, __private float *cosine) { return sincos(x, cosine); }
double __ocml_sincos_f64(double x, __private double *cosine) { return sincos(x, cosine); }
#define OCML_SINCOSPI(TYPE, END)                                                                      \
  TYPE __ocml_sincospi_##END(TYPE x, __private TYPE *cosine) {                                        \
    *cosine = cospi(x);                                                                               \
    return sinpi(x);                                                                                  \
  }
OCML_SINCOSPI(float, f32)
OCML_SINCOSPI(double, f64)

// Without a function of OpenCL C: those of float by way of double.
float __ocml_rcbrt_f32(float x) { return (float)(1 / cbrt((double)x)); }
double __ocml_rcbrt_f64(double x) { return 1 / cbrt(x); }
float __ocml_rhypot_f32(float x, float y) { return (float)(1 / hypot((double)x, (double)y)); }
double __ocml_rhypot_f64(double x, double y) { return 1 / hypot(x, y); }
float __ocml_len3_f32(float x, float y, float z) { return (float)hypot(hypot((double)x, (double)y), (double)z); }
double __ocml_len3_f64(double x, double y, double z) { return hypot(hypot(x, y), z); }
float __ocml_len4_f32(float x, float y, float z, float w) {
  return (float)hypot(hypot((double)x, (double)y), hypot((double)z, (double)w));
}
double __ocml_len4_f64(double x, double y, double z, double w) { return hypot(hypot(x, y), hypot(z, w)); }
float __ocml_rlen3_f32(float x, float y, float z) {
  return (float)(1 / hypot(hypot((double)x, (double)y), (double)z));
}
double __ocml_rlen3_f64(double x, double y, double z) { return 1 / __ocml_len3_f64(x, y, z); }
float __ocml_rlen4_f32(float x, float y, float z, float w) {
  return (float)(1 / hypot(hypot((double)x, (double)y), hypot((double)z, (double)w)));
}
double __ocml_rlen4_f64(double x, double y, double z, double w) { return 1 / __ocml_len4_f64(x, y, z, w); }

// The normal distribution. An error of the argument, which grows with it, is undone by the slope.
#ifndef OCML_NCDF_F32
float __ocml_ncdf_f32(float x) { return (float)(0.5 * erfc((double)x * -M_SQRT1_2)); }
#endif
double __ocml_ncdf_f64(double x) {
  double z = x * -M_SQRT1_2;
  // M_SQRT1_2 is larger than the root of a half by this.
  double error = fma(x, -M_SQRT1_2, -z) + x * 0x1.bdd3413b26456p-55;
  double slope = M_2_SQRTPI * exp(-z * z);
  return 0.5 * (erfc(z) - (slope == 0 ? 0 : slope * error));
}
