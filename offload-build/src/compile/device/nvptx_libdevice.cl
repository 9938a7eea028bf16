// Mathematics of NVIDIA's libdevice (https://docs.nvidia.com/cuda/libdevice-users-guide/), for builds that have it.
// libclc's own functions are right as well, but two to five times the code: they know nothing of the hardware's
// instructions. Errors of libdevice's: https://docs.nvidia.com/cuda/cuda-c-programming-guide/#mathematical-functions-appendix;
// none is above the bound of OpenCL C (https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_C.html#relative-error-as-ulps).

#define DEVICE_UNARY(NAME) \
  float __nv_##NAME##f(float); \
  float OVERLOAD NAME(float x) { return __nv_##NAME##f(x); } \
  UNARY(NAME)

#define DEVICE_BINARY(NAME) \
  float __nv_##NAME##f(float, float); \
  float OVERLOAD NAME(float x, float y) { return __nv_##NAME##f(x, y); } \
  float2 OVERLOAD NAME(float2 x, float2 y) { return (float2)(NAME(x.x, y.x), NAME(x.y, y.y)); } \
  float3 OVERLOAD NAME(float3 x, float3 y) { return (float3)(NAME(x.xy, y.xy), NAME(x.z, y.z)); } \
  float4 OVERLOAD NAME(float4 x, float4 y) { return (float4)(NAME(x.lo, y.lo), NAME(x.hi, y.hi)); } \
  float8 OVERLOAD NAME(float8 x, float8 y) { return (float8)(NAME(x.lo, y.lo), NAME(x.hi, y.hi)); } \
  float16 OVERLOAD NAME(float16 x, float16 y) { return (float16)(NAME(x.lo, y.lo), NAME(x.hi, y.hi)); }

DEVICE_UNARY(acos)
DEVICE_UNARY(acosh)
DEVICE_UNARY(asin)
DEVICE_UNARY(asinh)
DEVICE_UNARY(atan)
DEVICE_UNARY(atanh)
DEVICE_UNARY(cbrt)
DEVICE_UNARY(cos)
DEVICE_UNARY(cosh)
DEVICE_UNARY(cospi)
DEVICE_UNARY(erf)
DEVICE_UNARY(erfc)
DEVICE_UNARY(exp)
DEVICE_UNARY(exp2)
DEVICE_UNARY(exp10)
DEVICE_UNARY(expm1)
DEVICE_UNARY(log)
DEVICE_UNARY(log2)
DEVICE_UNARY(log10)
DEVICE_UNARY(log1p)
DEVICE_UNARY(sin)
DEVICE_UNARY(sinh)
DEVICE_UNARY(tan)
DEVICE_UNARY(tanh)
DEVICE_UNARY(tgamma)

DEVICE_BINARY(atan2)
DEVICE_BINARY(fmod)
DEVICE_BINARY(hypot)
DEVICE_BINARY(pow)
DEVICE_BINARY(remainder)

// libclc's own of these are wrong for large and small numbers: they scale by an ldexp that overflows.
#define DOUBLE_VECTORS(NAME) \
  double2 OVERLOAD NAME(double2 x, double2 y) { return (double2)(NAME(x.x, y.x), NAME(x.y, y.y)); } \
  double3 OVERLOAD NAME(double3 x, double3 y) { return (double3)(NAME(x.xy, y.xy), NAME(x.z, y.z)); } \
  double4 OVERLOAD NAME(double4 x, double4 y) { return (double4)(NAME(x.lo, y.lo), NAME(x.hi, y.hi)); } \
  double8 OVERLOAD NAME(double8 x, double8 y) { return (double8)(NAME(x.lo, y.lo), NAME(x.hi, y.hi)); } \
  double16 OVERLOAD NAME(double16 x, double16 y) { return (double16)(NAME(x.lo, y.lo), NAME(x.hi, y.hi)); }
#define DEVICE_DOUBLE(NAME) \
  double __nv_##NAME(double, double); \
  double OVERLOAD NAME(double x, double y) { return __nv_##NAME(x, y); } \
  DOUBLE_VECTORS(NAME)

DEVICE_DOUBLE(fmod)
DEVICE_DOUBLE(pow)
DEVICE_DOUBLE(remainder)

double OVERLOAD powr(double x, double y) {
  int undefined = !(x >= 0) || isnan(y) || (x == 1 && isinf(y)) || (y == 0 && (x == 0 || isinf(x)));
  return undefined ? NAN : __nv_pow(fabs(x), y);
}
DOUBLE_VECTORS(powr)

double __nv_tgamma(double);
double OVERLOAD tgamma(double x) { return __nv_tgamma(x); }
double2 OVERLOAD tgamma(double2 x) { return (double2)(tgamma(x.x), tgamma(x.y)); }
double3 OVERLOAD tgamma(double3 x) { return (double3)(tgamma(x.xy), tgamma(x.z)); }
double4 OVERLOAD tgamma(double4 x) { return (double4)(tgamma(x.lo), tgamma(x.hi)); }
double8 OVERLOAD tgamma(double8 x) { return (double8)(tgamma(x.lo), tgamma(x.hi)); }
double16 OVERLOAD tgamma(double16 x) { return (double16)(tgamma(x.lo), tgamma(x.hi)); }

// Seven bits of the quotient are wanted; libdevice's own gives three. 128 y may be infinite: then the quotient is small.
#define POINTER __attribute__((overloadable))
#define REMQUO(SPACE) \
  double POINTER remquo(double x, double y, SPACE int *quotient) { \
    double rest = __nv_remainder(x, y); \
    double count = __nv_fmod(x, 128 * y) / y - rest / y; \
    *quotient = isnan(count) ? 0 : (int)rint(count) % 128; \
    return rest; \
  } \
  REMQUO_VECTOR(SPACE, 2, int) \
  double3 POINTER remquo(double3 x, double3 y, SPACE int3 *quotient) { \
    int2 low; \
    int high; \
    double2 rest = remquo(x.xy, y.xy, &low); \
    double last = remquo(x.z, y.z, &high); \
    *quotient = (int3)(low, high); \
    return (double3)(rest, last); \
  } \
  REMQUO_VECTOR(SPACE, 4, int2) \
  REMQUO_VECTOR(SPACE, 8, int4) \
  REMQUO_VECTOR(SPACE, 16, int8)
#define REMQUO_VECTOR(SPACE, N, HALF) \
  double##N POINTER remquo(double##N x, double##N y, SPACE int##N *quotient) { \
    HALF low, high; \
    double##N rest; \
    rest.lo = remquo(x.lo, y.lo, &low); \
    rest.hi = remquo(x.hi, y.hi, &high); \
    *quotient = (int##N)(low, high); \
    return rest; \
  }
REMQUO(__private)
REMQUO(__local)
REMQUO(__global)
