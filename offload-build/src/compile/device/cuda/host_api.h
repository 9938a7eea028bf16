
// What functions for the host in a file with kernels commonly call. They are checked and left out of the image, so that
// declarations do: https://docs.nvidia.com/cuda/cuda-runtime-api/
#define CUDART_VERSION 12090
#define CUDARTAPI
#define CUDART_CB
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 9
enum cudaError {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInitializationError = 3,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady = 600,
  cudaErrorLaunchOutOfResources = 701,
  cudaErrorPeerAccessAlreadyEnabled = 704,
  cudaErrorPeerAccessNotEnabled = 705,
  cudaErrorLaunchFailure = 719,
  cudaErrorNotSupported = 801,
  cudaErrorUnknown = 999
};
enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 14
};
enum cudaFuncCache {
  cudaFuncCachePreferNone,
  cudaFuncCachePreferShared,
  cudaFuncCachePreferL1,
  cudaFuncCachePreferEqual
};
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
typedef enum cudaError cudaError_t;
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct CUmemPoolHandle_st *cudaMemPool_t;
#define cudaStreamDefault 0x00
#define cudaStreamNonBlocking 0x01
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
#define cudaEventDefault 0x00
#define cudaEventDisableTiming 0x02
struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes,
      preferredShmemCarveout;
};
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock, totalConstMem, sharedMemPerMultiprocessor, sharedMemPerBlockOptin;
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], major, minor, multiProcessorCount,
      maxThreadsPerMultiProcessor, concurrentKernels, cooperativeLaunch, maxBlocksPerMultiProcessor;
};

#define __OFFLOAD_HOST extern __attribute__((host))
extern "C" {
__OFFLOAD_HOST cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
__OFFLOAD_HOST unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0,
                                                        cudaStream_t stream = 0);
// What clang calls in its mode for HIP.
__OFFLOAD_HOST unsigned int __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0,
                                                       cudaStream_t stream = 0);
__OFFLOAD_HOST cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                            cudaStream_t stream);
__OFFLOAD_HOST cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                                       size_t shared, cudaStream_t stream);
__OFFLOAD_HOST cudaError_t cudaGetLastError();
__OFFLOAD_HOST cudaError_t cudaPeekAtLastError();
__OFFLOAD_HOST const char *cudaGetErrorString(cudaError_t error);
__OFFLOAD_HOST const char *cudaGetErrorName(cudaError_t error);
__OFFLOAD_HOST cudaError_t cudaGetDevice(int *device);
__OFFLOAD_HOST cudaError_t cudaSetDevice(int device);
__OFFLOAD_HOST cudaError_t cudaGetDeviceCount(int *count);
__OFFLOAD_HOST cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
__OFFLOAD_HOST cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
__OFFLOAD_HOST cudaError_t cudaDeviceSynchronize();
__OFFLOAD_HOST cudaError_t cudaStreamCreate(cudaStream_t *stream);
__OFFLOAD_HOST cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags);
__OFFLOAD_HOST cudaError_t cudaStreamDestroy(cudaStream_t stream);
__OFFLOAD_HOST cudaError_t cudaStreamSynchronize(cudaStream_t stream);
__OFFLOAD_HOST cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0);
__OFFLOAD_HOST cudaError_t cudaEventCreate(cudaEvent_t *event);
__OFFLOAD_HOST cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
__OFFLOAD_HOST cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0);
__OFFLOAD_HOST cudaError_t cudaEventSynchronize(cudaEvent_t event);
__OFFLOAD_HOST cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end);
__OFFLOAD_HOST cudaError_t cudaEventDestroy(cudaEvent_t event);
__OFFLOAD_HOST cudaError_t cudaFree(void *memory);
__OFFLOAD_HOST cudaError_t cudaFreeHost(void *memory);
__OFFLOAD_HOST cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream);
__OFFLOAD_HOST cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind kind);
__OFFLOAD_HOST cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind,
                                           cudaStream_t stream = 0);
__OFFLOAD_HOST cudaError_t cudaMemset(void *memory, int value, size_t size);
__OFFLOAD_HOST cudaError_t cudaMemsetAsync(void *memory, int value, size_t size, cudaStream_t stream = 0);
}
#define __OFFLOAD_HOST_TEMPLATE template <typename T> __OFFLOAD_HOST cudaError_t
__OFFLOAD_HOST_TEMPLATE cudaMalloc(T **memory, size_t size);
__OFFLOAD_HOST_TEMPLATE cudaMallocAsync(T **memory, size_t size, cudaStream_t stream);
__OFFLOAD_HOST_TEMPLATE cudaMallocHost(T **memory, size_t size, unsigned int flags = 0);
__OFFLOAD_HOST_TEMPLATE cudaMallocManaged(T **memory, size_t size, unsigned int flags = 1);
__OFFLOAD_HOST_TEMPLATE cudaFuncSetAttribute(T *kernel, cudaFuncAttribute attribute, int value);
__OFFLOAD_HOST_TEMPLATE cudaFuncSetCacheConfig(T *kernel, cudaFuncCache cache);
__OFFLOAD_HOST_TEMPLATE cudaFuncGetAttributes(cudaFuncAttributes *attributes, T *kernel);
__OFFLOAD_HOST_TEMPLATE cudaLaunchKernel(T *kernel, dim3 grid, dim3 block, void **arguments, size_t shared = 0,
                                         cudaStream_t stream = 0);
__OFFLOAD_HOST_TEMPLATE cudaLaunchCooperativeKernel(T *kernel, dim3 grid, dim3 block, void **arguments,
                                                    size_t shared = 0, cudaStream_t stream = 0);
__OFFLOAD_HOST_TEMPLATE cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T kernel, int block, size_t shared);
__OFFLOAD_HOST_TEMPLATE cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, T kernel, size_t shared = 0,
                                                           int limit = 0);
__OFFLOAD_HOST_TEMPLATE cudaMemcpyToSymbol(const T &symbol, const void *from, size_t size, size_t offset = 0,
                                           cudaMemcpyKind kind = cudaMemcpyHostToDevice);
__OFFLOAD_HOST_TEMPLATE cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t size, size_t offset,
                                                cudaMemcpyKind kind, cudaStream_t stream = 0);
__OFFLOAD_HOST_TEMPLATE cudaMemcpyFromSymbol(void *to, const T &symbol, size_t size, size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyDeviceToHost);
__OFFLOAD_HOST_TEMPLATE cudaGetSymbolAddress(void **address, const T &symbol);
#undef __OFFLOAD_HOST_TEMPLATE
// nvcc lets functions for the host name it.
static inline __host__ void __trap() { __builtin_trap(); }
#undef __OFFLOAD_HOST
