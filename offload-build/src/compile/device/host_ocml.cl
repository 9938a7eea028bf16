// Instructions of AMD's GPUs that clang's headers use.
float __offload_ldexp_f32(float x, int exponent) { return ldexp(x, exponent); }
double __offload_ldexp_f64(double x, int exponent) { return ldexp(x, exponent); }
