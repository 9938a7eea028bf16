
// What functions for the host in a file with kernels commonly call. They are checked and left out of the image. Where a
// module has launchers they are part of the program, and offload-rt has some of the functions:
// https://docs.nvidia.com/cuda/cuda-runtime-api/
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
  cudaErrorInvalidSymbol = 13,
  cudaErrorInvalidDevicePointer = 17,
  cudaErrorInvalidMemcpyDirection = 21,
  cudaErrorInsufficientDriver = 35,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorInvalidKernelImage = 200,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorSymbolNotFound = 500,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
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
#define cudaEventBlockingSync 0x01
#define cudaEventDisableTiming 0x02
#define cudaOccupancyDefault 0x00
#define cudaMemAttachGlobal 0x01
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
__OFFLOAD_HOST cudaError_t cudaStreamQuery(cudaStream_t stream);
__OFFLOAD_HOST cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0);
__OFFLOAD_HOST cudaError_t cudaEventCreate(cudaEvent_t *event);
__OFFLOAD_HOST cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
__OFFLOAD_HOST cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0);
__OFFLOAD_HOST cudaError_t cudaEventSynchronize(cudaEvent_t event);
__OFFLOAD_HOST cudaError_t cudaEventQuery(cudaEvent_t event);
__OFFLOAD_HOST cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end);
__OFFLOAD_HOST cudaError_t cudaEventDestroy(cudaEvent_t event);
__OFFLOAD_HOST cudaError_t cudaMalloc(void **memory, size_t size);
__OFFLOAD_HOST cudaError_t cudaMallocAsync(void **memory, size_t size, cudaStream_t stream);
__OFFLOAD_HOST cudaError_t cudaMallocHost(void **memory, size_t size);
__OFFLOAD_HOST cudaError_t cudaMallocManaged(void **memory, size_t size, unsigned int flags = cudaMemAttachGlobal);
__OFFLOAD_HOST cudaError_t cudaFree(void *memory);
__OFFLOAD_HOST cudaError_t cudaFreeHost(void *memory);
__OFFLOAD_HOST cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream);
__OFFLOAD_HOST cudaError_t cudaMemGetInfo(size_t *free, size_t *total);
__OFFLOAD_HOST cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind kind);
__OFFLOAD_HOST cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind,
                                           cudaStream_t stream = 0);
__OFFLOAD_HOST cudaError_t cudaMemset(void *memory, int value, size_t size);
__OFFLOAD_HOST cudaError_t cudaMemsetAsync(void *memory, int value, size_t size, cudaStream_t stream = 0);
__OFFLOAD_HOST cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t size, size_t offset = 0,
                                              cudaMemcpyKind kind = cudaMemcpyHostToDevice);
__OFFLOAD_HOST cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t size, size_t offset,
                                                   cudaMemcpyKind kind, cudaStream_t stream = 0);
__OFFLOAD_HOST cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t size, size_t offset = 0,
                                                cudaMemcpyKind kind = cudaMemcpyDeviceToHost);
__OFFLOAD_HOST cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t size, size_t offset,
                                                     cudaMemcpyKind kind, cudaStream_t stream = 0);
__OFFLOAD_HOST cudaError_t cudaGetSymbolAddress(void **address, const void *symbol);
__OFFLOAD_HOST cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol);
__OFFLOAD_HOST cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value);
__OFFLOAD_HOST cudaError_t cudaFuncSetCacheConfig(const void *kernel, cudaFuncCache cache);
__OFFLOAD_HOST cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel);
__OFFLOAD_HOST cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel, int block,
                                                                         size_t shared);
__OFFLOAD_HOST cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *kernel,
                                                                                  int block, size_t shared,
                                                                                  unsigned int flags);
}
// For pointers and symbols of any type.
#define __OFFLOAD_HOST_TEMPLATE template <typename T> static inline __attribute__((host)) cudaError_t
#define __OFFLOAD_SYMBOL ((const void *)&reinterpret_cast<const volatile char &>(symbol))
__OFFLOAD_HOST_TEMPLATE cudaMalloc(T **memory, size_t size) { return cudaMalloc((void **)memory, size); }
__OFFLOAD_HOST_TEMPLATE cudaMallocAsync(T **memory, size_t size, cudaStream_t stream) {
  return cudaMallocAsync((void **)memory, size, stream);
}
__OFFLOAD_HOST_TEMPLATE cudaMallocHost(T **memory, size_t size, unsigned int = 0) {
  return cudaMallocHost((void **)memory, size);
}
__OFFLOAD_HOST_TEMPLATE cudaMallocManaged(T **memory, size_t size, unsigned int flags = cudaMemAttachGlobal) {
  return cudaMallocManaged((void **)memory, size, flags);
}
__OFFLOAD_HOST_TEMPLATE cudaFuncSetAttribute(T *kernel, cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
__OFFLOAD_HOST_TEMPLATE cudaFuncSetCacheConfig(T *kernel, cudaFuncCache cache) {
  return cudaFuncSetCacheConfig((const void *)kernel, cache);
}
__OFFLOAD_HOST_TEMPLATE cudaFuncGetAttributes(cudaFuncAttributes *attributes, T *kernel) {
  return cudaFuncGetAttributes(attributes, (const void *)kernel);
}
__OFFLOAD_HOST_TEMPLATE cudaLaunchKernel(T *kernel, dim3 grid, dim3 block, void **arguments, size_t shared = 0,
                                         cudaStream_t stream = 0) {
  return cudaLaunchKernel((const void *)kernel, grid, block, arguments, shared, stream);
}
__OFFLOAD_HOST_TEMPLATE cudaLaunchCooperativeKernel(T *kernel, dim3 grid, dim3 block, void **arguments,
                                                    size_t shared = 0, cudaStream_t stream = 0) {
  return cudaLaunchCooperativeKernel((const void *)kernel, grid, block, arguments, shared, stream);
}
__OFFLOAD_HOST_TEMPLATE cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T kernel, int block, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, block, shared);
}
__OFFLOAD_HOST_TEMPLATE cudaMemcpyToSymbol(const T &symbol, const void *from, size_t size, size_t offset = 0,
                                           cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return cudaMemcpyToSymbol(__OFFLOAD_SYMBOL, from, size, offset, kind);
}
__OFFLOAD_HOST_TEMPLATE cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t size, size_t offset,
                                                cudaMemcpyKind kind, cudaStream_t stream = 0) {
  return cudaMemcpyToSymbolAsync(__OFFLOAD_SYMBOL, from, size, offset, kind, stream);
}
__OFFLOAD_HOST_TEMPLATE cudaMemcpyFromSymbol(void *to, const T &symbol, size_t size, size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return cudaMemcpyFromSymbol(to, __OFFLOAD_SYMBOL, size, offset, kind);
}
__OFFLOAD_HOST_TEMPLATE cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t size, size_t offset,
                                                  cudaMemcpyKind kind, cudaStream_t stream = 0) {
  return cudaMemcpyFromSymbolAsync(to, __OFFLOAD_SYMBOL, size, offset, kind, stream);
}
__OFFLOAD_HOST_TEMPLATE cudaGetSymbolAddress(void **address, const T &symbol) {
  return cudaGetSymbolAddress(address, __OFFLOAD_SYMBOL);
}
__OFFLOAD_HOST_TEMPLATE cudaGetSymbolSize(size_t *size, const T &symbol) {
  return cudaGetSymbolSize(size, __OFFLOAD_SYMBOL);
}
// The block with the most threads at once on a multiprocessor; of several the largest.
__OFFLOAD_HOST_TEMPLATE cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, T kernel, size_t shared = 0,
                                                           int limit = 0) {
  cudaFuncAttributes attributes;
  int device, processors, warp;
  cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
  if (!error) error = cudaGetDevice(&device);
  if (!error) error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  if (!error) error = cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device);
  if (error) return error;
  int largest = attributes.maxThreadsPerBlock, most = 0;
  if (limit > 0 && limit < largest) largest = limit;
  int size = (largest + warp - 1) / warp * warp;
  for (; size > 0; size -= warp) {
    int threads = size < largest ? size : largest, blocks;
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared);
    if (error) return error;
    if (blocks * threads > most) {
      most = blocks * threads;
      *block = threads;
      *grid = blocks * processors;
    }
  }
  return cudaSuccess;
}
#undef __OFFLOAD_HOST_TEMPLATE
#undef __OFFLOAD_SYMBOL
// nvcc lets functions for the host name it.
static inline __host__ void __trap() { __builtin_trap(); }
#undef __OFFLOAD_HOST
