// HIP C++ over the layers of CUDA C++, whose functions it has but for those of warps: a warp is the wave of the device, of
// 64 lanes on AMD's gfx9 and before, of 32 elsewhere, and masks have 64 bits.
// https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/hip_cpp_language_extensions.html
#define __HIPCC__ 1
#define __HIP_DEVICE_COMPILE__ 1
#define HIP_VERSION_MAJOR 6
#define HIP_VERSION_MINOR 4
#define HIP_VERSION_PATCH 0
#define HIP_VERSION 60400000
#if defined(__AMDGCN__)
#define __HIP_PLATFORM_AMD__ 1
#define __HIP_PLATFORM_HCC__ 1
#elif defined(__NVPTX__)
#define __HIP_PLATFORM_NVIDIA__ 1
#define __HIP_PLATFORM_NVCC__ 1
#else
#define __HIP_CPU_RT__ 1
#endif
#ifndef __NVPTX__
#define __HIP__ 1
#undef __CUDACC__
#undef __CUDA__
#undef __CUDA_ARCH__
#endif
#define __OFFLOAD_FN static __device__ __forceinline__

#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_SYMBOL(X) X
#define HIP_DYNAMIC_SHARED(TYPE, NAME) extern __shared__ TYPE NAME[];
#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z

// The lane, a word of another lane, a vote, and the mask of those who come here. On AMD masks choose among results alone.
#if defined(__AMDGCN__)
#if defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__)
static __device__ const int warpSize = 32;
#else
static __device__ const int warpSize = 64;
#endif
typedef unsigned int __offload_hip_word;
__OFFLOAD_FN unsigned int __offload_hip_lane() { return __offload_wave_lane(); }
__OFFLOAD_FN __offload_hip_word __offload_hip_exchange(unsigned long long, __offload_hip_word v, unsigned int lane) {
  return (unsigned int)__builtin_amdgcn_ds_bpermute((int)(lane * 4), (int)v);
}
__OFFLOAD_FN unsigned long long __offload_hip_vote(unsigned long long, bool v) { return __builtin_amdgcn_ballot_w64(v); }
__OFFLOAD_FN unsigned long long __offload_hip_here() { return ~0ull; }
#elif defined(__OFFLOAD_TARGET_HOST)
typedef __offload_lane_word __offload_hip_word;
__OFFLOAD_FN unsigned int __offload_hip_lane() { return __offload_lane(); }
__OFFLOAD_FN __offload_hip_word __offload_hip_exchange(unsigned long long mask, __offload_hip_word v, unsigned int lane) {
  return __offload_exchange((unsigned int)mask, v, lane);
}
__OFFLOAD_FN unsigned long long __offload_hip_vote(unsigned long long mask, bool v) {
  return __offload_ballot((unsigned int)mask, v);
}
// Nobody is waited for.
__OFFLOAD_FN unsigned long long __offload_hip_here() { return 0; }
#else
typedef unsigned int __offload_hip_word;
__OFFLOAD_FN unsigned int __offload_hip_lane() { return __offload_lane(); }
__OFFLOAD_FN __offload_hip_word __offload_hip_exchange(unsigned long long mask, __offload_hip_word v, unsigned int lane) {
  return __shfl_sync((unsigned int)mask, v, (int)lane, 32);
}
__OFFLOAD_FN unsigned long long __offload_hip_vote(unsigned long long mask, bool v) {
  return __ballot_sync((unsigned int)mask, v);
}
__OFFLOAD_FN unsigned long long __offload_hip_here() { return __activemask(); }
#endif

__OFFLOAD_FN unsigned int __offload_hip_at(int lane, int width) {
  return (__offload_hip_lane() & ~(width - 1)) | (lane & (width - 1));
}
__OFFLOAD_FN unsigned int __offload_hip_up(unsigned int by, int width) {
  unsigned int lane = __offload_hip_lane();
  return (lane & (width - 1)) < by ? lane : lane - by;
}
__OFFLOAD_FN unsigned int __offload_hip_down(unsigned int by, int width) {
  unsigned int lane = __offload_hip_lane();
  return (lane & (width - 1)) + by >= (unsigned int)width ? lane : lane + by;
}
__OFFLOAD_FN unsigned int __offload_hip_xor(int lanes, int width) {
  unsigned int lane = __offload_hip_lane();
  unsigned int other = lane ^ lanes;
  return other >= (lane & ~(width - 1)) + width ? lane : other;
}
template <typename T> __OFFLOAD_FN T __offload_hip_from(unsigned long long mask, T v, unsigned int lane) {
  enum { SIZE = sizeof(__offload_hip_word), WORDS = (sizeof(T) + SIZE - 1) / SIZE };
  __offload_hip_word words[WORDS] = {};
  __builtin_memcpy(words, &v, sizeof(T));
  _Pragma("unroll") for (int i = 0; i < WORDS; i++) words[i] = __offload_hip_exchange(mask, words[i], lane);
  __builtin_memcpy(&v, words, sizeof(T));
  return v;
}
// Those with a mask stand beside the functions of CUDA, whose masks have 32 bits and which serve the headers here.
#define __OFFLOAD_IF_MASK(M) typename __offload_if<sizeof(M) == 8 && __is_integral(M)>::type = 0
#define __OFFLOAD_SHUFFLE(NAME, LANE, TYPE_OF_LANE) \
  template <typename T> __OFFLOAD_FN T __offload_hip##NAME(T v, TYPE_OF_LANE lane, int width = warpSize) { \
    return __offload_hip_from(__offload_hip_here(), v, LANE(lane, width)); \
  } \
  template <typename M, typename T, __OFFLOAD_IF_MASK(M)> \
  __OFFLOAD_FN T NAME##_sync(M mask, T v, TYPE_OF_LANE lane, int width = warpSize) { \
    return __offload_hip_from((unsigned long long)mask, v, LANE(lane, width)); \
  }
__OFFLOAD_SHUFFLE(__shfl, __offload_hip_at, int)
__OFFLOAD_SHUFFLE(__shfl_up, __offload_hip_up, unsigned int)
__OFFLOAD_SHUFFLE(__shfl_down, __offload_hip_down, unsigned int)
__OFFLOAD_SHUFFLE(__shfl_xor, __offload_hip_xor, int)
#undef __OFFLOAD_SHUFFLE
#define __shfl __offload_hip__shfl
#define __shfl_up __offload_hip__shfl_up
#define __shfl_down __offload_hip__shfl_down
#define __shfl_xor __offload_hip__shfl_xor

__OFFLOAD_FN unsigned long long __offload_hip_ballot(int v) { return __offload_hip_vote(__offload_hip_here(), v != 0); }
__OFFLOAD_FN int __offload_hip_any(int v) { return __offload_hip_ballot(v) != 0; }
__OFFLOAD_FN int __offload_hip_all(int v) { return __offload_hip_ballot(v == 0) == 0; }
__OFFLOAD_FN unsigned long long __offload_hip_active() { return __offload_hip_ballot(1); }
#define __ballot __offload_hip_ballot
#define __any __offload_hip_any
#define __all __offload_hip_all
#define __activemask __offload_hip_active
template <typename M, __OFFLOAD_IF_MASK(M)> __OFFLOAD_FN unsigned long long __ballot_sync(M mask, int v) {
  return __offload_hip_vote((unsigned long long)mask, v != 0) & (unsigned long long)mask;
}
template <typename M, __OFFLOAD_IF_MASK(M)> __OFFLOAD_FN int __any_sync(M mask, int v) {
  return __ballot_sync(mask, v) != 0;
}
template <typename M, __OFFLOAD_IF_MASK(M)> __OFFLOAD_FN int __all_sync(M mask, int v) {
  return __ballot_sync(mask, v == 0) == 0;
}
template <typename M, __OFFLOAD_IF_MASK(M)> __OFFLOAD_FN void __syncwarp(M mask) { __syncwarp((unsigned int)mask); }
template <typename M, typename T, __OFFLOAD_IF_MASK(M)> __OFFLOAD_FN unsigned long long __match_any_sync(M mask, T v) {
  unsigned long long same = 0;
  for (int lane = 0; lane < warpSize; lane++)
    same |= (unsigned long long)(__offload_hip_from((unsigned long long)mask, v, (unsigned int)lane) == v) << lane;
  return same & __ballot_sync(mask, 1);
}
template <typename M, typename T, __OFFLOAD_IF_MASK(M)>
__OFFLOAD_FN unsigned long long __match_all_sync(M mask, T v, int *is_same) {
  unsigned long long here = __ballot_sync(mask, 1);
  *is_same = __match_any_sync(mask, v) == here;
  return *is_same ? here : 0;
}
// Their results would be those of 32 lanes.
#define __OFFLOAD_DELETED(NAME) \
  template <typename M, typename T, __OFFLOAD_IF_MASK(M)> __device__ T __reduce_##NAME##_sync(M, T) = delete;
__OFFLOAD_DELETED(add) __OFFLOAD_DELETED(min) __OFFLOAD_DELETED(max)
__OFFLOAD_DELETED(and) __OFFLOAD_DELETED(or) __OFFLOAD_DELETED(xor)
#undef __OFFLOAD_DELETED
__OFFLOAD_FN unsigned int __lane_id() { return __offload_hip_lane(); }
__OFFLOAD_FN unsigned long long __lanemask_lt() { return (1ull << __offload_hip_lane()) - 1; }

// https://clang.llvm.org/docs/LanguageExtensions.html#hip-atomics: builtins of clang in its mode for HIP.
#ifndef __AMDGCN__
#define __HIP_MEMORY_SCOPE_SINGLETHREAD 1
#define __HIP_MEMORY_SCOPE_WAVEFRONT 2
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5
#define __OFFLOAD_SCOPE(S) (5 - (S))
#define __hip_atomic_load(P, O, S) __scoped_atomic_load_n(P, O, __OFFLOAD_SCOPE(S))
#define __hip_atomic_store(P, V, O, S) __scoped_atomic_store_n(P, V, O, __OFFLOAD_SCOPE(S))
#define __hip_atomic_exchange(P, V, O, S) __scoped_atomic_exchange_n(P, V, O, __OFFLOAD_SCOPE(S))
#define __hip_atomic_compare_exchange_weak(P, E, V, O, F, S) \
  __scoped_atomic_compare_exchange_n(P, E, V, true, O, F, __OFFLOAD_SCOPE(S))
#define __hip_atomic_compare_exchange_strong(P, E, V, O, F, S) \
  __scoped_atomic_compare_exchange_n(P, E, V, false, O, F, __OFFLOAD_SCOPE(S))
#define __hip_atomic_fetch_add(P, V, O, S) __scoped_atomic_fetch_add(P, V, O, __OFFLOAD_SCOPE(S))
#define __hip_atomic_fetch_sub(P, V, O, S) __scoped_atomic_fetch_sub(P, V, O, __OFFLOAD_SCOPE(S))
#define __hip_atomic_fetch_min(P, V, O, S) __scoped_atomic_fetch_min(P, V, O, __OFFLOAD_SCOPE(S))
#define __hip_atomic_fetch_max(P, V, O, S) __scoped_atomic_fetch_max(P, V, O, __OFFLOAD_SCOPE(S))
#define __hip_atomic_fetch_and(P, V, O, S) __scoped_atomic_fetch_and(P, V, O, __OFFLOAD_SCOPE(S))
#define __hip_atomic_fetch_or(P, V, O, S) __scoped_atomic_fetch_or(P, V, O, __OFFLOAD_SCOPE(S))
#define __hip_atomic_fetch_xor(P, V, O, S) __scoped_atomic_fetch_xor(P, V, O, __OFFLOAD_SCOPE(S))
#endif
__OFFLOAD_FN float unsafeAtomicAdd(float *p, float v) { return atomicAdd(p, v); }
__OFFLOAD_FN float safeAtomicAdd(float *p, float v) { return atomicAdd(p, v); }
__OFFLOAD_FN double unsafeAtomicAdd(double *p, double v) { return atomicAdd(p, v); }
__OFFLOAD_FN double safeAtomicAdd(double *p, double v) { return atomicAdd(p, v); }

// Vectors have operators in HIP. Templates, so that those of a source win.
template <typename V> struct __offload_vector {};
template <typename T, int N> struct __offload_elements { T at[N]; };
#define __OFFLOAD_VECTOR(NAME, TYPE, N) \
  template <> struct __offload_vector<NAME##N> { \
    typedef TYPE type; \
    typedef __offload_elements<TYPE, N> elements; \
    enum { COUNT = N }; \
  };
#define __OFFLOAD_VECTORS(NAME, TYPE) \
  __OFFLOAD_VECTOR(NAME, TYPE, 1) __OFFLOAD_VECTOR(NAME, TYPE, 2) __OFFLOAD_VECTOR(NAME, TYPE, 3) __OFFLOAD_VECTOR(NAME, TYPE, 4)
__OFFLOAD_VECTORS(char, signed char) __OFFLOAD_VECTORS(uchar, unsigned char)
__OFFLOAD_VECTORS(short, short) __OFFLOAD_VECTORS(ushort, unsigned short)
__OFFLOAD_VECTORS(int, int) __OFFLOAD_VECTORS(uint, unsigned int)
__OFFLOAD_VECTORS(long, long) __OFFLOAD_VECTORS(ulong, unsigned long)
__OFFLOAD_VECTORS(longlong, long long) __OFFLOAD_VECTORS(ulonglong, unsigned long long)
__OFFLOAD_VECTORS(float, float) __OFFLOAD_VECTORS(double, double)
#undef __OFFLOAD_VECTORS
#undef __OFFLOAD_VECTOR
#define __OFFLOAD_HD static __host__ __device__ __forceinline__
#define __OFFLOAD_OPERATOR(SIGN) \
  template <typename V, typename T = typename __offload_vector<V>::type> __OFFLOAD_HD V operator SIGN(V a, V b) { \
    typedef typename __offload_vector<V>::elements elements; \
    elements x = __builtin_bit_cast(elements, a), y = __builtin_bit_cast(elements, b); \
    for (int i = 0; i < __offload_vector<V>::COUNT; i++) x.at[i] = (T)(x.at[i] SIGN y.at[i]); \
    return __builtin_bit_cast(V, x); \
  } \
  template <typename V, typename S, typename T = typename __offload_vector<V>::type, \
            typename __offload_if<__is_arithmetic(S)>::type = 0> \
  __OFFLOAD_HD V operator SIGN(V a, S b) { \
    typedef typename __offload_vector<V>::elements elements; \
    elements x = __builtin_bit_cast(elements, a); \
    for (int i = 0; i < __offload_vector<V>::COUNT; i++) x.at[i] = (T)(x.at[i] SIGN (T)b); \
    return __builtin_bit_cast(V, x); \
  } \
  template <typename V, typename S, typename T = typename __offload_vector<V>::type, \
            typename __offload_if<__is_arithmetic(S)>::type = 0> \
  __OFFLOAD_HD V operator SIGN(S a, V b) { \
    typedef typename __offload_vector<V>::elements elements; \
    elements x = __builtin_bit_cast(elements, b); \
    for (int i = 0; i < __offload_vector<V>::COUNT; i++) x.at[i] = (T)((T)a SIGN x.at[i]); \
    return __builtin_bit_cast(V, x); \
  } \
  template <typename V, typename O, typename T = typename __offload_vector<V>::type> \
  __OFFLOAD_HD V &operator SIGN##=(V &a, O b) { \
    return a = a SIGN b; \
  }
__OFFLOAD_OPERATOR(+) __OFFLOAD_OPERATOR(-) __OFFLOAD_OPERATOR(*) __OFFLOAD_OPERATOR(/)
#undef __OFFLOAD_OPERATOR
template <typename V, typename T = typename __offload_vector<V>::type> __OFFLOAD_HD V operator-(V a) { return (T)0 - a; }
template <typename V, typename T = typename __offload_vector<V>::type> __OFFLOAD_HD bool operator==(V a, V b) {
  typedef typename __offload_vector<V>::elements elements;
  elements x = __builtin_bit_cast(elements, a), y = __builtin_bit_cast(elements, b);
  bool is_same = true;
  for (int i = 0; i < __offload_vector<V>::COUNT; i++) is_same = is_same && x.at[i] == y.at[i];
  return is_same;
}
template <typename V, typename T = typename __offload_vector<V>::type> __OFFLOAD_HD bool operator!=(V a, V b) {
  return !(a == b);
}
#undef __OFFLOAD_HD
#undef __OFFLOAD_FN

// What functions for the host call, where its name is not CUDA's with another beginning.
#define hipDeviceProp_t cudaDeviceProp
#define hipDeviceAttribute_t cudaDeviceAttr
#define hipDeviceAttributeMultiprocessorCount cudaDevAttrMultiProcessorCount
#define hipDeviceAttributeMaxThreadsPerBlock cudaDevAttrMaxThreadsPerBlock
#define hipDeviceAttributeMaxSharedMemoryPerBlock cudaDevAttrMaxSharedMemoryPerBlock
#define hipDeviceAttributeWarpSize cudaDevAttrWarpSize
#define hipDeviceAttributeComputeCapabilityMajor cudaDevAttrComputeCapabilityMajor
#define hipDeviceAttributeComputeCapabilityMinor cudaDevAttrComputeCapabilityMinor
#define hipErrorOutOfMemory cudaErrorMemoryAllocation
#define hipErrorNotInitialized cudaErrorInitializationError
#define hipHostFree cudaFreeHost
#define hipLaunchKernelGGL(KERNEL, GRID, BLOCK, SHARED, STREAM, ...) KERNEL<<<GRID, BLOCK, SHARED, STREAM>>>(__VA_ARGS__)
template <typename T> __host__ cudaError_t hipHostMalloc(T **memory, size_t size, unsigned int flags = 0);
