/* Functions of angles on float vectors: as soon as one element is large (2 to the 23 and up), PoCL reduces all of them
 * by a method that is wrong for small ones: sin((float2)(1e-38f, 1e9f)) has -0.0156 for the first. Such vectors are
 * taken apart. Stands before the kernels, whose calls are renamed once more; PoCL's header has renamed sin to _cl_sin.
 */
#undef sin
#undef cos
#undef tan
#undef sincos
#undef half_sin
#undef half_cos
#undef half_tan
#undef native_sin
#undef native_cos
#undef native_tan
#define __OFFLOAD_SAME(NAME, TYPE) \
  static inline TYPE __attribute__((overloadable)) __offload_##NAME(TYPE x) { return _cl_##NAME(x); }
#define __OFFLOAD_GUARDED(NAME, TYPE, HALF)                                                       \
  static inline TYPE __attribute__((overloadable)) __offload_##NAME(TYPE x) {                     \
    if (!any(fabs(x) >= 0x1p23f)) return _cl_##NAME(x);                                           \
    return (TYPE)(__offload_##NAME((HALF)x.lo), __offload_##NAME((HALF)x.hi));                    \
  }
#define __OFFLOAD_ANGLE(NAME)                                                                     \
  __OFFLOAD_SAME(NAME, float)                                                                     \
  __OFFLOAD_GUARDED(NAME, float2, float)                                                          \
  static inline float3 __attribute__((overloadable)) __offload_##NAME(float3 x) {                 \
    if (!any(fabs(x) >= 0x1p23f)) return _cl_##NAME(x);                                           \
    return (float3)(__offload_##NAME(x.xy), __offload_##NAME(x.z));                               \
  }                                                                                               \
  __OFFLOAD_GUARDED(NAME, float4, float2)                                                         \
  __OFFLOAD_GUARDED(NAME, float8, float4)                                                         \
  __OFFLOAD_GUARDED(NAME, float16, float8)
__OFFLOAD_ANGLE(sin)
__OFFLOAD_ANGLE(cos)
__OFFLOAD_ANGLE(tan)
__OFFLOAD_ANGLE(half_sin)
__OFFLOAD_ANGLE(half_cos)
__OFFLOAD_ANGLE(half_tan)
__OFFLOAD_ANGLE(native_sin)
__OFFLOAD_ANGLE(native_cos)
__OFFLOAD_ANGLE(native_tan)
#define __OFFLOAD_SINCOS(TYPE, SPACE)                                                             \
  static inline TYPE __attribute__((overloadable)) __offload_sincos(TYPE x, SPACE TYPE *cosine) { \
    *cosine = __offload_cos(x);                                                                   \
    return __offload_sin(x);                                                                      \
  }
#define __OFFLOAD_SINCOSES(TYPE) \
  __OFFLOAD_SINCOS(TYPE, __private) __OFFLOAD_SINCOS(TYPE, __local) __OFFLOAD_SINCOS(TYPE, __global)
#define __OFFLOAD_ALL_SINCOSES(TYPE)                                                              \
  __OFFLOAD_SINCOSES(TYPE) __OFFLOAD_SINCOSES(TYPE##2) __OFFLOAD_SINCOSES(TYPE##3)                \
  __OFFLOAD_SINCOSES(TYPE##4) __OFFLOAD_SINCOSES(TYPE##8) __OFFLOAD_SINCOSES(TYPE##16)
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define __OFFLOAD_DOUBLES(NAME)                                                                   \
  __OFFLOAD_SAME(NAME, double) __OFFLOAD_SAME(NAME, double2) __OFFLOAD_SAME(NAME, double3)        \
  __OFFLOAD_SAME(NAME, double4) __OFFLOAD_SAME(NAME, double8) __OFFLOAD_SAME(NAME, double16)
__OFFLOAD_DOUBLES(sin)
__OFFLOAD_DOUBLES(cos)
__OFFLOAD_DOUBLES(tan)
__OFFLOAD_ALL_SINCOSES(double)
#endif
__OFFLOAD_ALL_SINCOSES(float)
#define sin __offload_sin
#define cos __offload_cos
#define tan __offload_tan
#define sincos __offload_sincos
#define half_sin __offload_half_sin
#define half_cos __offload_half_cos
#define half_tan __offload_half_tan
#define native_sin __offload_native_sin
#define native_cos __offload_native_cos
#define native_tan __offload_native_tan
