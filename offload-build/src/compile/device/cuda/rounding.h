
// Arithmetic with a direction, which PTX alone has instructions for: the nearest number, and one step back if it has passed
// the result. By how much it misses the result is known from operations without an error:
// https://docs.nvidia.com/cuda/cuda-math-api/cuda_math_api/group__CUDA__MATH__INTRINSIC__SINGLE.html
// https://docs.nvidia.com/cuda/cuda-math-api/cuda_math_api/group__CUDA__MATH__INTRINSIC__DOUBLE.html
#define __OFFLOAD_EXACT _Pragma("clang fp contract(off) reassociate(off)")
template <typename F> struct __offload_bits;
template <> struct __offload_bits<float> { typedef int type; };
template <> struct __offload_bits<double> { typedef long long type; };
template <typename F> __OFFLOAD_FN bool __offload_is_negative(F v) {
  return __builtin_bit_cast(typename __offload_bits<F>::type, v) < 0;
}
template <typename F> __OFFLOAD_FN bool __offload_is_finite(F v) { __OFFLOAD_EXACT return v - v == 0; }
// `error` has the sign of the result less `nearest`.
template <__offload_direction TO, typename F> __OFFLOAD_FN F __offload_rounded(F nearest, double error, bool is_finite) {
  typedef typename __offload_bits<F>::type Bits;
  if (nearest != nearest || !is_finite)
    return nearest;
  if (!__offload_is_finite(nearest))
    error = nearest > 0 ? -1 : 1;
  return __offload_step<TO, Bits>(nearest, error < 0 ? 1 : error > 0 ? -1 : 0);
}
// What `sum`, the nearest to `a + b`, lacks.
template <typename F> __OFFLOAD_FN F __offload_sum_error(F a, F b, F sum) {
  __OFFLOAD_EXACT
  bool is_b_larger = (a < 0 ? -a : a) < (b < 0 ? -b : b);
  F larger = is_b_larger ? b : a;
  F smaller = is_b_larger ? a : b;
  return smaller - (sum - larger);
}
// What `product`, the nearest to `a * b`, lacks, times 2^1080 where that would be too small for a number.
__OFFLOAD_FN double __offload_product_error(double a, double b, double product) {
  if (__builtin_fabs(product) < 0x1p-900) {
    a *= 0x1p540;
    b *= 0x1p540;
    product = product * 0x1p540 * 0x1p540;
  }
  return __builtin_fma(a, b, -product);
}
// Of a sum, which is -0 if it is 0 and rounded down, but for that of two +0.
template <__offload_direction TO, typename F>
__OFFLOAD_FN F __offload_rounded_sum(F nearest, double error, bool is_finite, bool is_one_sign) {
  if (TO == __OFFLOAD_DOWN && nearest == 0 && error == 0 && !is_one_sign)
    return -(F)0;
  return __offload_rounded<TO>(nearest, error, is_finite);
}
template <__offload_direction TO, typename F> __OFFLOAD_FN F __offload_add(F a, F b) {
  __OFFLOAD_EXACT
  F sum = a + b;
  bool is_finite = __offload_is_finite(a) && __offload_is_finite(b);
  bool is_one_sign = __offload_is_negative(a) == __offload_is_negative(b);
  return __offload_rounded_sum<TO>(sum, __offload_sum_error(a, b, sum), is_finite, is_one_sign);
}
template <__offload_direction TO> __OFFLOAD_FN float __offload_multiply(float a, float b) {
  __OFFLOAD_EXACT
  float product = a * b;
  double error = (double)a * b - product;
  return __offload_rounded<TO>(product, error, __offload_is_finite(a) && __offload_is_finite(b));
}
template <__offload_direction TO> __OFFLOAD_FN double __offload_multiply(double a, double b) {
  __OFFLOAD_EXACT
  double product = a * b;
  double error = __offload_product_error(a, b, product);
  return __offload_rounded<TO>(product, error, __offload_is_finite(a) && __offload_is_finite(b));
}
// By the sign of `a - quotient * b`.
template <__offload_direction TO> __OFFLOAD_FN float __offload_divide(float a, float b) {
  __OFFLOAD_EXACT
  float quotient = a / b;
  double rest = a - (double)quotient * b;
  bool is_finite = __offload_is_finite(a) && __offload_is_finite(b) && b != 0;
  return __offload_rounded<TO>(quotient, b < 0 ? -rest : rest, is_finite);
}
template <__offload_direction TO> __OFFLOAD_FN double __offload_divide(double a, double b) {
  __OFFLOAD_EXACT
  double quotient = a / b;
  double scale = __builtin_fabs(a) < 0x1p-900 ? 0x1p600 : 1;
  double rest = __builtin_fma(-(quotient * scale), b, a * scale);
  bool is_finite = __offload_is_finite(a) && __offload_is_finite(b) && b != 0;
  return __offload_rounded<TO>(quotient, b < 0 ? -rest : rest, is_finite);
}
template <__offload_direction TO> __OFFLOAD_FN float __offload_root(float v) {
  __OFFLOAD_EXACT
  float root = __builtin_sqrtf(v);
  return __offload_rounded<TO>(root, v - (double)root * root, __offload_is_finite(v));
}
template <__offload_direction TO> __OFFLOAD_FN double __offload_root(double v) {
  double root = __builtin_sqrt(v);
  double half_scale = v < 0x1p-900 ? 0x1p300 : 1;
  double scaled = root * half_scale;
  return __offload_rounded<TO>(root, __builtin_fma(-scaled, scaled, v * half_scale * half_scale), __offload_is_finite(v));
}
template <__offload_direction TO> __OFFLOAD_FN float __offload_fused(float a, float b, float c) {
  __OFFLOAD_EXACT
  float nearest = __builtin_fmaf(a, b, c);
  double product = (double)a * b;
  double sum = product + c;
  double error = (sum - nearest) + __offload_sum_error(product, (double)c, sum);
  bool is_finite = __offload_is_finite(product) && __offload_is_finite(c);
  bool is_one_sign = __offload_is_negative(product) == __offload_is_negative(c);
  return __offload_rounded_sum<TO>(nearest, error, is_finite, is_one_sign);
}
// What `nearest` lacks of `a * b + c`, or a number with its sign.
__OFFLOAD_FN double __offload_fused_error(double a, double b, double c, double nearest) {
  __OFFLOAD_EXACT
  double product = a * b;
  double size = __builtin_fabs(product);
  // One that is less than the last digit of the other decides where there is no other error.
  if (size < __builtin_fabs(c) * 0x1p-200)
    return a == 0 || b == 0 ? 0 : __offload_is_negative(product) ? -1 : 1;
  if (__builtin_fabs(c) < size * 0x1p-400 && __offload_is_finite(product)) {
    double error = (product - nearest) + __builtin_fma(a, b, -product);
    return error == 0 ? c : error;
  }
  // Scaled, so that each part is a number.
  double scale_a = 1, scale_b = 1;
  if (size > 0x1p900) {
    (__builtin_fabs(a) > __builtin_fabs(b) ? scale_a : scale_b) = 0x1p-300;
  } else if (size < 0x1p-600) {
    scale_a = __builtin_fabs(b) > 0x1p400 ? 0x1p1000 : __builtin_fabs(a) > 0x1p400 ? 1 : 0x1p540;
    scale_b = __builtin_fabs(a) > 0x1p400 ? 0x1p1000 : __builtin_fabs(b) > 0x1p400 ? 1 : 0x1p540;
  }
  a *= scale_a;
  b *= scale_b;
  c = c * scale_a * scale_b;
  product = a * b;
  double product_error = __builtin_fma(a, b, -product);
  double sum = product + c;
  double first = sum - nearest * scale_a * scale_b;
  double second = __offload_sum_error(product, c, sum);
  double high = first + second;
  double low = __offload_sum_error(first, second, high);
  double rest = low + product_error;
  double error = high + rest;
  return error != 0 ? error : __offload_sum_error(high, rest, error) + __offload_sum_error(low, product_error, rest);
}
template <__offload_direction TO> __OFFLOAD_FN double __offload_fused(double a, double b, double c) {
  double nearest = __builtin_fma(a, b, c);
  bool is_finite = __offload_is_finite(a) && __offload_is_finite(b) && __offload_is_finite(c);
  bool is_one_sign = (__offload_is_negative(a) != __offload_is_negative(b)) == __offload_is_negative(c);
  double error = __offload_fused_error(a, b, c, nearest);
  return __offload_rounded_sum<TO>(nearest, error, is_finite, is_one_sign);
}
#define __OFFLOAD_DIRECTED(END, TO) \
  __OFFLOAD_FN float __fadd##END(float a, float b) { return __offload_add<TO, float>(a, b); } \
  __OFFLOAD_FN float __fsub##END(float a, float b) { return __offload_add<TO, float>(a, -b); } \
  __OFFLOAD_FN float __fmul##END(float a, float b) { return __offload_multiply<TO>(a, b); } \
  __OFFLOAD_FN float __fdiv##END(float a, float b) { return __offload_divide<TO>(a, b); } \
  __OFFLOAD_FN float __frcp##END(float v) { return __offload_divide<TO>(1.0f, v); } \
  __OFFLOAD_FN float __fsqrt##END(float v) { return __offload_root<TO>(v); } \
  __OFFLOAD_FN float __fmaf##END(float a, float b, float c) { return __offload_fused<TO>(a, b, c); } \
  __OFFLOAD_FN float __fmaf_ieee##END(float a, float b, float c) { return __offload_fused<TO>(a, b, c); } \
  __OFFLOAD_FN double __dadd##END(double a, double b) { return __offload_add<TO, double>(a, b); } \
  __OFFLOAD_FN double __dsub##END(double a, double b) { return __offload_add<TO, double>(a, -b); } \
  __OFFLOAD_FN double __dmul##END(double a, double b) { return __offload_multiply<TO>(a, b); } \
  __OFFLOAD_FN double __ddiv##END(double a, double b) { return __offload_divide<TO>(a, b); } \
  __OFFLOAD_FN double __drcp##END(double v) { return __offload_divide<TO>(1.0, v); } \
  __OFFLOAD_FN double __dsqrt##END(double v) { return __offload_root<TO>(v); } \
  __OFFLOAD_FN double __fma##END(double a, double b, double c) { return __offload_fused<TO>(a, b, c); }
__OFFLOAD_DIRECTED(_rz, __OFFLOAD_ZERO)
__OFFLOAD_DIRECTED(_rd, __OFFLOAD_DOWN)
__OFFLOAD_DIRECTED(_ru, __OFFLOAD_UP)
#undef __OFFLOAD_DIRECTED
#undef __OFFLOAD_EXACT
__OFFLOAD_FN float __fmaf_ieee_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

// Names of minima and maxima by their types.
__OFFLOAD_FN unsigned int umin(unsigned int a, unsigned int b) { return a < b ? a : b; }
__OFFLOAD_FN unsigned int umax(unsigned int a, unsigned int b) { return a > b ? a : b; }
__OFFLOAD_FN long long llmin(long long a, long long b) { return a < b ? a : b; }
__OFFLOAD_FN long long llmax(long long a, long long b) { return a > b ? a : b; }
__OFFLOAD_FN unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
__OFFLOAD_FN unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }

// For debuggers and profilers.
__OFFLOAD_FN void __brkpt() { __builtin_debugtrap(); }
__OFFLOAD_FN void __prof_trigger(int) {}
