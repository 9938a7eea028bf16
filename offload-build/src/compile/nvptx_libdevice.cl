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
