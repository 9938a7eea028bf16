// Attributes, built-in types: what goes before each file of CUDA C++ that has no headers of a toolkit.
// https://docs.nvidia.com/cuda/cuda-c-programming-guide/#c-language-extensions
#define __CUDACC__ 1
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef unsigned char uchar;
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
// By the sizes and alignments of https://docs.nvidia.com/cuda/cuda-c-programming-guide/#built-in-vector-types
#define __OFFLOAD_VECTORS(TYPE, NAME, ALIGN2, ALIGN4) \
  struct NAME##1 { TYPE x; }; \
  struct __align__(ALIGN2) NAME##2 { TYPE x, y; }; \
  struct NAME##3 { TYPE x, y, z; }; \
  struct __align__(ALIGN4) NAME##4 { TYPE x, y, z, w; }; \
  static __host__ __device__ __forceinline__ NAME##1 make_##NAME##1(TYPE x) { return {x}; } \
  static __host__ __device__ __forceinline__ NAME##2 make_##NAME##2(TYPE x, TYPE y) { return {x, y}; } \
  static __host__ __device__ __forceinline__ NAME##3 make_##NAME##3(TYPE x, TYPE y, TYPE z) { return {x, y, z}; } \
  static __host__ __device__ __forceinline__ NAME##4 make_##NAME##4(TYPE x, TYPE y, TYPE z, TYPE w) { \
    return {x, y, z, w}; \
  }
__OFFLOAD_VECTORS(signed char, char, 2, 4)
__OFFLOAD_VECTORS(unsigned char, uchar, 2, 4)
__OFFLOAD_VECTORS(short, short, 4, 8)
__OFFLOAD_VECTORS(unsigned short, ushort, 4, 8)
__OFFLOAD_VECTORS(int, int, 8, 16)
__OFFLOAD_VECTORS(unsigned int, uint, 8, 16)
__OFFLOAD_VECTORS(long, long, 2 * sizeof(long), 16)
__OFFLOAD_VECTORS(unsigned long, ulong, 2 * sizeof(long), 16)
__OFFLOAD_VECTORS(long long, longlong, 16, 16)
__OFFLOAD_VECTORS(unsigned long long, ulonglong, 16, 16)
__OFFLOAD_VECTORS(float, float, 8, 16)
__OFFLOAD_VECTORS(double, double, 16, 16)
#undef __OFFLOAD_VECTORS
struct dim3 {
  unsigned int x, y, z;
  __host__ __device__ constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
};

#define __OFFLOAD_FN static __device__ __forceinline__
// clang's headers expect these of the C library.
#ifndef INT_MAX
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#endif
#define HUGE_VALF __builtin_huge_valf()
#define HUGE_VAL __builtin_huge_val()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
