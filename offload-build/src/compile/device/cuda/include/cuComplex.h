// Complex numbers: https://docs.nvidia.com/cuda/cuda-c-programming-guide/ names the types; operations are those of C99's
// annex G without its treatment of infinities.
#pragma once
typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;
#define __OFFLOAD_COMPLEX(C, F, END, MAKE) \
  static __host__ __device__ __forceinline__ F cuCreal##END(C z) { return z.x; } \
  static __host__ __device__ __forceinline__ F cuCimag##END(C z) { return z.y; } \
  static __host__ __device__ __forceinline__ C MAKE(F real, F imaginary) { return {real, imaginary}; } \
  static __host__ __device__ __forceinline__ C cuConj##END(C z) { return {z.x, -z.y}; } \
  static __host__ __device__ __forceinline__ C cuCadd##END(C a, C b) { return {a.x + b.x, a.y + b.y}; } \
  static __host__ __device__ __forceinline__ C cuCsub##END(C a, C b) { return {a.x - b.x, a.y - b.y}; } \
  static __host__ __device__ __forceinline__ C cuCmul##END(C a, C b) { \
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; \
  } \
  /* Scaled, so that squares neither overflow nor vanish. */ \
  static __host__ __device__ __forceinline__ C cuCdiv##END(C a, C b) { \
    F scale = 1 / ((b.x < 0 ? -b.x : b.x) + (b.y < 0 ? -b.y : b.y)); \
    F ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale; \
    F over = 1 / (bx * bx + by * by); \
    return {(ax * bx + ay * by) * over, (ay * bx - ax * by) * over}; \
  } \
  static __host__ __device__ __forceinline__ C cuCfma##END(C a, C b, C c) { return cuCadd##END(cuCmul##END(a, b), c); }
__OFFLOAD_COMPLEX(cuFloatComplex, float, f, make_cuFloatComplex)
__OFFLOAD_COMPLEX(cuDoubleComplex, double, , make_cuDoubleComplex)
#undef __OFFLOAD_COMPLEX
static __host__ __device__ __forceinline__ cuComplex make_cuComplex(float real, float imaginary) {
  return {real, imaginary};
}
static __device__ __forceinline__ float cuCabsf(cuFloatComplex z) { return hypotf(z.x, z.y); }
static __device__ __forceinline__ double cuCabs(cuDoubleComplex z) { return hypot(z.x, z.y); }
static __host__ __forceinline__ float cuCabsf(cuFloatComplex z) { return __builtin_hypotf(z.x, z.y); }
static __host__ __forceinline__ double cuCabs(cuDoubleComplex z) { return __builtin_hypot(z.x, z.y); }
static __host__ __device__ __forceinline__ cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) {
  return {z.x, z.y};
}
static __host__ __device__ __forceinline__ cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
  return {(float)z.x, (float)z.y};
}
