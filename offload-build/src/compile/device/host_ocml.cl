#pragma OPENCL EXTENSION cl_khr_fp64 : enable
// PoCL's function never reaches 1, which C99 asks for at infinity. From these numbers on 1 is nearest.
static float __attribute__((overloadable)) host_tanh(float x) { return fabs(x) > 9.02f ? copysign(1.0f, x) : tanh(x); }
static double __attribute__((overloadable)) host_tanh(double x) { return fabs(x) > 19.07 ? copysign(1.0, x) : tanh(x); }
#undef tanh
#define tanh host_tanh

// Instructions of AMD's GPUs that clang's headers use.
float __offload_ldexp_f32(float x, int exponent) { return ldexp(x, exponent); }
double __offload_ldexp_f64(double x, int exponent) { return ldexp(x, exponent); }
