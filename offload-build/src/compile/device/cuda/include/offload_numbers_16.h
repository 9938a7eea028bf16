// Functions that half and bfloat16 share, for the type `__OFFLOAD_T` and pairs of it; included once for each.
// Arithmetic. `_rn` is never part of a fused operation.
#define __OFFLOAD_BINARY(NAME, END, CONTRACT, OPERATOR) \
  __OFFLOAD_HD __OFFLOAD_T __h##NAME##END(__OFFLOAD_T a, __OFFLOAD_T b) { \
    _Pragma(CONTRACT) return __OFFLOAD_OF(a.__x OPERATOR b.__x); \
  } \
  __OFFLOAD_HD __OFFLOAD_T2 __h##NAME##2##END(__OFFLOAD_T2 a, __OFFLOAD_T2 b) { \
    _Pragma(CONTRACT) return __OFFLOAD_T2(a.vector() OPERATOR b.vector()); \
  }
__OFFLOAD_BINARY(add, , __OFFLOAD_CONTRACT, +)
__OFFLOAD_BINARY(sub, , __OFFLOAD_CONTRACT, -)
__OFFLOAD_BINARY(mul, , __OFFLOAD_CONTRACT, *)
__OFFLOAD_BINARY(add, _rn, "clang fp contract(off)", +)
__OFFLOAD_BINARY(sub, _rn, "clang fp contract(off)", -)
__OFFLOAD_BINARY(mul, _rn, "clang fp contract(off)", *)
#undef __OFFLOAD_BINARY
// A quotient of two is not rounded twice by way of float, which has more than twice the digits.
__OFFLOAD_HD __OFFLOAD_T __hdiv(__OFFLOAD_T a, __OFFLOAD_T b) { return __OFFLOAD_T((float)a.__x / (float)b.__x); }
__OFFLOAD_HD __OFFLOAD_T2 __h2div(__OFFLOAD_T2 a, __OFFLOAD_T2 b) {
  return __OFFLOAD_T2(__hdiv(a.x, b.x), __hdiv(a.y, b.y));
}
__OFFLOAD_HD __OFFLOAD_T __hneg(__OFFLOAD_T v) { return __OFFLOAD_OF(-v.__x); }
__OFFLOAD_HD __OFFLOAD_T2 __hneg2(__OFFLOAD_T2 v) { return __OFFLOAD_T2(-v.vector()); }
__OFFLOAD_HD __OFFLOAD_T __habs(__OFFLOAD_T v) { return __OFFLOAD_OF_BITS(__OFFLOAD_BITS(v) & 0x7fff); }
__OFFLOAD_HD __OFFLOAD_T2 __habs2(__OFFLOAD_T2 v) { return __OFFLOAD_T2(__habs(v.x), __habs(v.y)); }
__OFFLOAD_HD __OFFLOAD_T __hfma(__OFFLOAD_T a, __OFFLOAD_T b, __OFFLOAD_T c) {
  return __OFFLOAD_OF(__builtin_elementwise_fma(a.__x, b.__x, c.__x));
}
__OFFLOAD_HD __OFFLOAD_T2 __hfma2(__OFFLOAD_T2 a, __OFFLOAD_T2 b, __OFFLOAD_T2 c) {
  return __OFFLOAD_T2(__builtin_elementwise_fma(a.vector(), b.vector(), c.vector()));
}
__OFFLOAD_HD __OFFLOAD_T2 __hcmadd(__OFFLOAD_T2 a, __OFFLOAD_T2 b, __OFFLOAD_T2 c) {
  __OFFLOAD_T real = __hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x));
  __OFFLOAD_T imaginary = __hfma(a.y, b.x, __hfma(a.x, b.y, c.y));
  return __OFFLOAD_T2(real, imaginary);
}

// Comparisons: those with `u` hold for NaN.
__OFFLOAD_HD bool __hisnan(__OFFLOAD_T v) { return v.__x != v.__x; }
__OFFLOAD_HD int __hisinf(__OFFLOAD_T v) {
  unsigned short bits = __OFFLOAD_BITS(v);
  return bits == __OFFLOAD_INFINITY ? 1 : bits == (0x8000 | __OFFLOAD_INFINITY) ? -1 : 0;
}
__OFFLOAD_HD __OFFLOAD_T2 __hisnan2(__OFFLOAD_T2 v) {
  return __OFFLOAD_T2(__OFFLOAD_T(__hisnan(v.x)), __OFFLOAD_T(__hisnan(v.y)));
}
#define __OFFLOAD_COMPARE(NAME, OPERATOR) \
  __OFFLOAD_HD bool __h##NAME(__OFFLOAD_T a, __OFFLOAD_T b) { return a.__x OPERATOR b.__x; } \
  __OFFLOAD_HD bool __h##NAME##u(__OFFLOAD_T a, __OFFLOAD_T b) { \
    return __hisnan(a) || __hisnan(b) || a.__x OPERATOR b.__x; \
  } \
  __OFFLOAD_HD __OFFLOAD_T2 __h##NAME##2(__OFFLOAD_T2 a, __OFFLOAD_T2 b) { \
    return __OFFLOAD_T2(__OFFLOAD_T((int)__h##NAME(a.x, b.x)), __OFFLOAD_T((int)__h##NAME(a.y, b.y))); \
  } \
  __OFFLOAD_HD unsigned int __h##NAME##2_mask(__OFFLOAD_T2 a, __OFFLOAD_T2 b) { \
    return (__h##NAME(a.x, b.x) ? 0xffffu : 0) | (__h##NAME(a.y, b.y) ? 0xffff0000u : 0); \
  } \
  __OFFLOAD_HD bool __hb##NAME##2(__OFFLOAD_T2 a, __OFFLOAD_T2 b) { \
    return __h##NAME(a.x, b.x) && __h##NAME(a.y, b.y); \
  } \
  __OFFLOAD_HD bool __hb##NAME##u2(__OFFLOAD_T2 a, __OFFLOAD_T2 b) { return __h##NAME##u(a.x, b.x) && __h##NAME##u(a.y, b.y); }
__OFFLOAD_COMPARE(eq, ==)
__OFFLOAD_COMPARE(lt, <)
__OFFLOAD_COMPARE(le, <=)
__OFFLOAD_COMPARE(gt, >)
__OFFLOAD_COMPARE(ge, >=)
#undef __OFFLOAD_COMPARE
#define __OFFLOAD_PAIRS_OF(NAME) \
  __OFFLOAD_HD __OFFLOAD_T2 __h##NAME##2(__OFFLOAD_T2 a, __OFFLOAD_T2 b) { \
    return __OFFLOAD_T2(__OFFLOAD_T((int)__h##NAME(a.x, b.x)), __OFFLOAD_T((int)__h##NAME(a.y, b.y))); \
  } \
  __OFFLOAD_HD unsigned int __h##NAME##2_mask(__OFFLOAD_T2 a, __OFFLOAD_T2 b) { \
    return (__h##NAME(a.x, b.x) ? 0xffffu : 0) | (__h##NAME(a.y, b.y) ? 0xffff0000u : 0); \
  }
__OFFLOAD_HD bool __hne(__OFFLOAD_T a, __OFFLOAD_T b) { return !__hisnan(a) && !__hisnan(b) && a.__x != b.__x; }
__OFFLOAD_HD bool __hneu(__OFFLOAD_T a, __OFFLOAD_T b) { return a.__x != b.__x; }
__OFFLOAD_HD bool __hbne2(__OFFLOAD_T2 a, __OFFLOAD_T2 b) { return __hne(a.x, b.x) && __hne(a.y, b.y); }
__OFFLOAD_HD bool __hbneu2(__OFFLOAD_T2 a, __OFFLOAD_T2 b) { return __hneu(a.x, b.x) && __hneu(a.y, b.y); }
__OFFLOAD_PAIRS_OF(ne) __OFFLOAD_PAIRS_OF(neu) __OFFLOAD_PAIRS_OF(equ) __OFFLOAD_PAIRS_OF(ltu) __OFFLOAD_PAIRS_OF(leu)
__OFFLOAD_PAIRS_OF(gtu) __OFFLOAD_PAIRS_OF(geu)
#undef __OFFLOAD_PAIRS_OF

// Of a number and NaN the number is the result, and -0 is less than +0; with `_nan` it is NaN.
#define __OFFLOAD_EXTREME(NAME, OF_NUMBERS) \
  __OFFLOAD_HD __OFFLOAD_T NAME(__OFFLOAD_T a, __OFFLOAD_T b) { return __OFFLOAD_OF(OF_NUMBERS(a.__x, b.__x)); } \
  __OFFLOAD_HD __OFFLOAD_T2 NAME##2(__OFFLOAD_T2 a, __OFFLOAD_T2 b) { \
    return __OFFLOAD_T2(OF_NUMBERS(a.vector(), b.vector())); \
  } \
  __OFFLOAD_HD __OFFLOAD_T NAME##_nan(__OFFLOAD_T a, __OFFLOAD_T b) { \
    return __hisnan(a) || __hisnan(b) ? __OFFLOAD_NAN : __OFFLOAD_OF(OF_NUMBERS(a.__x, b.__x)); \
  } \
  __OFFLOAD_HD __OFFLOAD_T2 NAME##2_nan(__OFFLOAD_T2 a, __OFFLOAD_T2 b) { \
    return __OFFLOAD_T2(NAME##_nan(a.x, b.x), NAME##_nan(a.y, b.y)); \
  }
__OFFLOAD_EXTREME(__hmin, __builtin_elementwise_min)
__OFFLOAD_EXTREME(__hmax, __builtin_elementwise_max)
#undef __OFFLOAD_EXTREME
__OFFLOAD_HD __OFFLOAD_T __hadd_sat(__OFFLOAD_T a, __OFFLOAD_T b) {
  return __hmin(__hmax(__hadd(a, b), __OFFLOAD_ZERO), __OFFLOAD_ONE);
}
__OFFLOAD_HD __OFFLOAD_T __hsub_sat(__OFFLOAD_T a, __OFFLOAD_T b) {
  return __hmin(__hmax(__hsub(a, b), __OFFLOAD_ZERO), __OFFLOAD_ONE);
}
__OFFLOAD_HD __OFFLOAD_T __hmul_sat(__OFFLOAD_T a, __OFFLOAD_T b) {
  return __hmin(__hmax(__hmul(a, b), __OFFLOAD_ZERO), __OFFLOAD_ONE);
}
__OFFLOAD_HD __OFFLOAD_T __hfma_sat(__OFFLOAD_T a, __OFFLOAD_T b, __OFFLOAD_T c) {
  return __hmin(__hmax(__hfma(a, b, c), __OFFLOAD_ZERO), __OFFLOAD_ONE);
}
__OFFLOAD_HD __OFFLOAD_T __hfma_relu(__OFFLOAD_T a, __OFFLOAD_T b, __OFFLOAD_T c) {
  return __hmax_nan(__hfma(a, b, c), __OFFLOAD_ZERO);
}
#define __OFFLOAD_BOUNDED(NAME, END, PARAMETERS, LOW, HIGH) \
  __OFFLOAD_HD __OFFLOAD_T2 NAME##2##END PARAMETERS { return __OFFLOAD_T2(NAME##END LOW, NAME##END HIGH); }
__OFFLOAD_BOUNDED(__hadd, _sat, (__OFFLOAD_T2 a, __OFFLOAD_T2 b), (a.x, b.x), (a.y, b.y))
__OFFLOAD_BOUNDED(__hsub, _sat, (__OFFLOAD_T2 a, __OFFLOAD_T2 b), (a.x, b.x), (a.y, b.y))
__OFFLOAD_BOUNDED(__hmul, _sat, (__OFFLOAD_T2 a, __OFFLOAD_T2 b), (a.x, b.x), (a.y, b.y))
__OFFLOAD_BOUNDED(__hfma, _sat, (__OFFLOAD_T2 a, __OFFLOAD_T2 b, __OFFLOAD_T2 c), (a.x, b.x, c.x), (a.y, b.y, c.y))
__OFFLOAD_BOUNDED(__hfma, _relu, (__OFFLOAD_T2 a, __OFFLOAD_T2 b, __OFFLOAD_T2 c), (a.x, b.x, c.x), (a.y, b.y, c.y))
#undef __OFFLOAD_BOUNDED

// Mathematics by way of float.
#define __OFFLOAD_MATH(NAME, OF_FLOAT) \
  __OFFLOAD_D __OFFLOAD_T h##NAME(__OFFLOAD_T v) { return __OFFLOAD_T(OF_FLOAT(__OFFLOAD_TO_FLOAT(v))); } \
  __OFFLOAD_D __OFFLOAD_T2 h2##NAME(__OFFLOAD_T2 v) { return __OFFLOAD_T2(h##NAME(v.x), h##NAME(v.y)); }
#ifdef __NVPTX__
__OFFLOAD_MATH(sqrt, __OFFLOAD_SQRT)
#else
__OFFLOAD_MATH(sqrt, sqrtf)
#endif
__OFFLOAD_MATH(rsqrt, rsqrtf) __OFFLOAD_MATH(rcp, 1.0f /)
__OFFLOAD_MATH(exp, expf) __OFFLOAD_MATH(exp2, exp2f) __OFFLOAD_MATH(exp10, exp10f)
__OFFLOAD_MATH(log, logf) __OFFLOAD_MATH(log2, log2f) __OFFLOAD_MATH(log10, log10f)
__OFFLOAD_MATH(sin, sinf) __OFFLOAD_MATH(cos, cosf) __OFFLOAD_MATH(tanh, tanhf) __OFFLOAD_MATH(tanh_approx, tanhf)
__OFFLOAD_MATH(ceil, ceilf) __OFFLOAD_MATH(floor, floorf) __OFFLOAD_MATH(trunc, truncf) __OFFLOAD_MATH(rint, rintf)
#undef __OFFLOAD_MATH

#if __OFFLOAD_HAS_OPERATORS
#define __OFFLOAD_OPERATOR(OPERATOR, NAME) \
  __OFFLOAD_HD __OFFLOAD_T operator OPERATOR(const __OFFLOAD_T &a, const __OFFLOAD_T &b) { return __h##NAME(a, b); } \
  __OFFLOAD_HD __OFFLOAD_T &operator OPERATOR##=(__OFFLOAD_T &a, const __OFFLOAD_T &b) { return a = __h##NAME(a, b); }
__OFFLOAD_OPERATOR(+, add)
__OFFLOAD_OPERATOR(-, sub)
__OFFLOAD_OPERATOR(*, mul)
__OFFLOAD_OPERATOR(/, div)
#undef __OFFLOAD_OPERATOR
#define __OFFLOAD_OPERATOR(OPERATOR, NAME) \
  __OFFLOAD_HD __OFFLOAD_T2 operator OPERATOR(const __OFFLOAD_T2 &a, const __OFFLOAD_T2 &b) { return NAME(a, b); } \
  __OFFLOAD_HD __OFFLOAD_T2 &operator OPERATOR##=(__OFFLOAD_T2 &a, const __OFFLOAD_T2 &b) { return a = NAME(a, b); }
__OFFLOAD_OPERATOR(+, __hadd2)
__OFFLOAD_OPERATOR(-, __hsub2)
__OFFLOAD_OPERATOR(*, __hmul2)
__OFFLOAD_OPERATOR(/, __h2div)
#undef __OFFLOAD_OPERATOR
#define __OFFLOAD_OPERATOR(OPERATOR, NAME) \
  __OFFLOAD_HD bool operator OPERATOR(const __OFFLOAD_T &a, const __OFFLOAD_T &b) { return __h##NAME(a, b); } \
  __OFFLOAD_HD bool operator OPERATOR(const __OFFLOAD_T2 &a, const __OFFLOAD_T2 &b) { return __h##NAME(a.x, b.x) && __h##NAME(a.y, b.y); }
__OFFLOAD_OPERATOR(==, eq)
__OFFLOAD_OPERATOR(!=, neu)
__OFFLOAD_OPERATOR(<, lt)
__OFFLOAD_OPERATOR(<=, le)
__OFFLOAD_OPERATOR(>, gt)
__OFFLOAD_OPERATOR(>=, ge)
#undef __OFFLOAD_OPERATOR
__OFFLOAD_HD __OFFLOAD_T operator+(const __OFFLOAD_T &v) { return v; }
__OFFLOAD_HD __OFFLOAD_T operator-(const __OFFLOAD_T &v) { return __hneg(v); }
__OFFLOAD_HD __OFFLOAD_T2 operator-(const __OFFLOAD_T2 &v) { return __hneg2(v); }
__OFFLOAD_HD __OFFLOAD_T &operator++(__OFFLOAD_T &v) { return v = __hadd(v, __OFFLOAD_ONE); }
__OFFLOAD_HD __OFFLOAD_T &operator--(__OFFLOAD_T &v) { return v = __hsub(v, __OFFLOAD_ONE); }
__OFFLOAD_HD __OFFLOAD_T operator++(__OFFLOAD_T &v, int) {
  __OFFLOAD_T before = v;
  v = __hadd(v, __OFFLOAD_ONE);
  return before;
}
__OFFLOAD_HD __OFFLOAD_T operator--(__OFFLOAD_T &v, int) {
  __OFFLOAD_T before = v;
  v = __hsub(v, __OFFLOAD_ONE);
  return before;
}
#endif

// Loads, shuffles, atomics.
__OFFLOAD_D __OFFLOAD_T __ldg(const __OFFLOAD_T *p) { return __OFFLOAD_OF_BITS(__ldg((const unsigned short *)p)); }
__OFFLOAD_D __OFFLOAD_T2 __ldg(const __OFFLOAD_T2 *p) { return __builtin_bit_cast(__OFFLOAD_T2, __ldg((const unsigned int *)p)); }
#define __OFFLOAD_SHUFFLE(NAME, TYPE) \
  __OFFLOAD_D __OFFLOAD_T NAME(unsigned int mask, __OFFLOAD_T v, TYPE lane, int width = 32) { \
    return __OFFLOAD_OF_BITS((unsigned short)NAME(mask, (unsigned int)__OFFLOAD_BITS(v), lane, width)); \
  } \
  __OFFLOAD_D __OFFLOAD_T2 NAME(unsigned int mask, __OFFLOAD_T2 v, TYPE lane, int width = 32) { \
    return __builtin_bit_cast(__OFFLOAD_T2, NAME(mask, __builtin_bit_cast(unsigned int, v), lane, width)); \
  }
__OFFLOAD_SHUFFLE(__shfl_sync, int)
__OFFLOAD_SHUFFLE(__shfl_up_sync, unsigned int)
__OFFLOAD_SHUFFLE(__shfl_down_sync, unsigned int)
__OFFLOAD_SHUFFLE(__shfl_xor_sync, int)
#undef __OFFLOAD_SHUFFLE
#undef __OFFLOAD_T
#undef __OFFLOAD_T2
#undef __OFFLOAD_OF
#undef __OFFLOAD_BITS
#undef __OFFLOAD_OF_BITS
#undef __OFFLOAD_SQRT
#undef __OFFLOAD_TO_FLOAT
#undef __OFFLOAD_INFINITY
#undef __OFFLOAD_NAN
#undef __OFFLOAD_ZERO
#undef __OFFLOAD_ONE
#undef __OFFLOAD_CONTRACT
#undef __OFFLOAD_HAS_OPERATORS
