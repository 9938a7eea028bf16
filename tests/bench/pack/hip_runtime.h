// What the kernels of this benchmark use of HIP's headers, for clang alone.
// https://rocm.docs.amd.com/projects/HIP/en/latest/reference/cpp_language_extensions.html
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(most, ...) __attribute__((amdgpu_flat_work_group_size(1, most)))
typedef __SIZE_TYPE__ size_t;
typedef unsigned int uint;
struct __align__(8) float2 { float x, y; };
struct float3 { float x, y, z; };
struct __align__(16) float4 { float x, y, z, w; };
struct __align__(8) int2 { int x, y; };
struct __align__(16) int4 { int x, y, z, w; };

#define __OFFLOAD_FN static __device__ __forceinline__
#define __OFFLOAD_COORDINATES(NAME, X, Y, Z) \
  struct __offload_##NAME { \
    struct __x { __device__ operator unsigned int() const { return X; } }; \
    struct __y { __device__ operator unsigned int() const { return Y; } }; \
    struct __z { __device__ operator unsigned int() const { return Z; } }; \
    [[no_unique_address]] __x x; \
    [[no_unique_address]] __y y; \
    [[no_unique_address]] __z z; \
  }; \
  extern const __device__ __attribute__((weak)) __offload_##NAME NAME;
__OFFLOAD_COORDINATES(threadIdx, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(),
                      __builtin_amdgcn_workitem_id_z())
__OFFLOAD_COORDINATES(blockIdx, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(),
                      __builtin_amdgcn_workgroup_id_z())
// Hidden arguments of code object version 5:
// https://llvm.org/docs/AMDGPUUsage.html#amdgpu-amdhsa-code-object-kernel-argument-metadata-map-table-v5
__OFFLOAD_FN const __attribute__((address_space(4))) char *__offload_hidden() {
  return (const __attribute__((address_space(4))) char *)__builtin_amdgcn_implicitarg_ptr();
}
__OFFLOAD_FN unsigned int __offload_blocks(int d) {
  return ((const __attribute__((address_space(4))) unsigned int *)__offload_hidden())[d];
}
__OFFLOAD_FN unsigned int __offload_threads(int d) {
  return ((const __attribute__((address_space(4))) unsigned short *)(__offload_hidden() + 12))[d];
}
__OFFLOAD_COORDINATES(blockDim, __offload_threads(0), __offload_threads(1), __offload_threads(2))
__OFFLOAD_COORDINATES(gridDim, __offload_blocks(0), __offload_blocks(1), __offload_blocks(2))
#undef __OFFLOAD_COORDINATES

__OFFLOAD_FN void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
#define __OFFLOAD_ATOMICS(TYPE) \
  __OFFLOAD_FN TYPE atomicAdd(TYPE *p, TYPE v) { \
    return __hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); \
  } \
  __OFFLOAD_FN TYPE atomicMax(TYPE *p, TYPE v) { \
    return __hip_atomic_fetch_max(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); \
  } \
  __OFFLOAD_FN TYPE atomicMin(TYPE *p, TYPE v) { \
    return __hip_atomic_fetch_min(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); \
  }
__OFFLOAD_ATOMICS(int)
__OFFLOAD_ATOMICS(unsigned int)
__OFFLOAD_ATOMICS(float)
#undef __OFFLOAD_ATOMICS
__OFFLOAD_FN float sqrtf(float x) { return __builtin_sqrtf(x); }
__OFFLOAD_FN float fabsf(float x) { return __builtin_fabsf(x); }
__OFFLOAD_FN float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
__OFFLOAD_FN float fminf(float a, float b) { return __builtin_fminf(a, b); }
__OFFLOAD_FN float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
__OFFLOAD_FN float floorf(float x) { return __builtin_floorf(x); }
__OFFLOAD_FN float ceilf(float x) { return __builtin_ceilf(x); }
__OFFLOAD_FN float truncf(float x) { return __builtin_truncf(x); }
__OFFLOAD_FN float __expf(float x) { return __builtin_exp2f(x * 0x1.715476p+0f); }
__OFFLOAD_FN float __logf(float x) { return __builtin_log2f(x) * 0x1.62e430p-1f; }
#undef __OFFLOAD_FN
extern "C" __device__ int printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
#line 1
