
// What functions for the host in a file with kernels commonly call. They are checked and left out of the image. Where a
// module has launchers they are part of the program, and offload-rt has some of the functions:
// https://docs.nvidia.com/cuda/cuda-runtime-api/
#if __has_include(<cmath>) && __has_include(<cstdlib>) && __has_include(<new>)
// nvcc includes these by itself.
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <math.h>
#include <new>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <utility>
#if __has_include(<bits/std_function.h>)
// `std::function` without the rest of <functional>, which takes long to read.
#include <bits/std_function.h>
#endif
#endif
// Before nvcc had atomic functions of its own.
#define CUDART_VERSION 12060
#define CUDARTAPI
#define CUDART_CB
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 6
// By which sources tell CUDA C++ from HIP C++, and from a file for the host.
#define __NVCC__ 1
enum cudaError {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInitializationError = 3,
  cudaErrorCudartUnloading = 4,
  cudaErrorProfilerDisabled = 5,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidPitchValue = 12,
  cudaErrorInvalidSymbol = 13,
  cudaErrorInvalidHostPointer = 16,
  cudaErrorInvalidDevicePointer = 17,
  cudaErrorInvalidTexture = 18,
  cudaErrorInvalidTextureBinding = 19,
  cudaErrorInvalidChannelDescriptor = 20,
  cudaErrorInvalidMemcpyDirection = 21,
  cudaErrorInsufficientDriver = 35,
  cudaErrorDevicesUnavailable = 46,
  cudaErrorMissingConfiguration = 52,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorStartupFailure = 127,
  cudaErrorInvalidKernelImage = 200,
  cudaErrorDeviceUninitialized = 201,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorECCUncorrectable = 214,
  cudaErrorPeerAccessUnsupported = 217,
  cudaErrorInvalidPtx = 218,
  cudaErrorUnsupportedPtxVersion = 222,
  cudaErrorFileNotFound = 301,
  cudaErrorOperatingSystem = 304,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorSymbolNotFound = 500,
  cudaErrorNotReady = 600,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorStreamCaptureInvalidated = 901,
  cudaErrorStreamCaptureMerge = 902,
  cudaErrorStreamCaptureUnmatched = 903,
  cudaErrorStreamCaptureUnjoined = 904,
  cudaErrorStreamCaptureIsolation = 905,
  cudaErrorStreamCaptureImplicit = 906,
  cudaErrorCapturedEvent = 907,
  cudaErrorStreamCaptureWrongThread = 908,
  cudaErrorTimeout = 909,
  cudaErrorGraphExecUpdateFailure = 910,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchTimeout = 702,
  cudaErrorSetOnActiveProcess = 708,
  cudaErrorContextIsDestroyed = 709,
  cudaErrorAssert = 710,
  cudaErrorTooManyPeers = 711,
  cudaErrorHostMemoryAlreadyRegistered = 712,
  cudaErrorHostMemoryNotRegistered = 713,
  cudaErrorHardwareStackError = 714,
  cudaErrorIllegalInstruction = 715,
  cudaErrorMisalignedAddress = 716,
  cudaErrorInvalidAddressSpace = 717,
  cudaErrorInvalidPc = 718,
  cudaErrorLaunchOutOfResources = 701,
  cudaErrorPeerAccessAlreadyEnabled = 704,
  cudaErrorPeerAccessNotEnabled = 705,
  cudaErrorLaunchFailure = 719,
  cudaErrorCooperativeLaunchTooLarge = 720,
  cudaErrorNotPermitted = 800,
  cudaErrorNotSupported = 801,
  cudaErrorSystemNotReady = 802,
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
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxGridDimY = 6,
  cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrTotalConstantMemory = 9,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxPitch = 11,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrClockRate = 13,
  cudaDevAttrTextureAlignment = 14,
  cudaDevAttrGpuOverlap = 15,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrKernelExecTimeout = 17,
  cudaDevAttrIntegrated = 18,
  cudaDevAttrCanMapHostMemory = 19,
  cudaDevAttrComputeMode = 20,
  cudaDevAttrSurfaceAlignment = 30,
  cudaDevAttrConcurrentKernels = 31,
  cudaDevAttrEccEnabled = 32,
  cudaDevAttrPciBusId = 33,
  cudaDevAttrPciDeviceId = 34,
  cudaDevAttrTccDriver = 35,
  cudaDevAttrMemoryClockRate = 36,
  cudaDevAttrGlobalMemoryBusWidth = 37,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrAsyncEngineCount = 40,
  cudaDevAttrUnifiedAddressing = 41,
  cudaDevAttrPciDomainId = 50,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrStreamPrioritiesSupported = 78,
  cudaDevAttrGlobalL1CacheSupported = 79,
  cudaDevAttrLocalL1CacheSupported = 80,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxRegistersPerMultiprocessor = 82,
  cudaDevAttrManagedMemory = 83,
  cudaDevAttrIsMultiGpuBoard = 84,
  cudaDevAttrMultiGpuBoardGroupID = 85,
  cudaDevAttrHostNativeAtomicSupported = 86,
  cudaDevAttrSingleToDoublePrecisionPerfRatio = 87,
  cudaDevAttrPageableMemoryAccess = 88,
  cudaDevAttrConcurrentManagedAccess = 89,
  cudaDevAttrComputePreemptionSupported = 90,
  cudaDevAttrCanUseHostPointerForRegisteredMem = 91,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrCooperativeMultiDeviceLaunch = 96,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrHostRegisterSupported = 99,
  cudaDevAttrPageableMemoryAccessUsesHostPageTables = 100,
  cudaDevAttrDirectManagedMemAccessFromHost = 101,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106,
  cudaDevAttrMaxPersistingL2CacheSize = 108,
  cudaDevAttrMaxAccessPolicyWindowSize = 109,
  cudaDevAttrReservedSharedMemoryPerBlock = 111,
  cudaDevAttrMemoryPoolsSupported = 115,
  cudaDevAttrClusterLaunch = 120
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
#define cudaMemAttachHost 0x02
#define cudaMemAttachSingle 0x04
#define cudaHostAllocDefault 0x00
#define cudaHostAllocPortable 0x01
#define cudaHostAllocMapped 0x02
#define cudaHostAllocWriteCombined 0x04
#define cudaHostRegisterDefault 0x00
#define cudaHostRegisterPortable 0x01
#define cudaHostRegisterMapped 0x02
#define cudaHostRegisterIoMemory 0x04
#define cudaHostRegisterReadOnly 0x08
#define cudaDeviceScheduleAuto 0x00
#define cudaDeviceScheduleSpin 0x01
#define cudaDeviceScheduleYield 0x02
#define cudaDeviceScheduleBlockingSync 0x04
#define cudaDeviceMapHost 0x08
#define cudaCpuDeviceId ((int)-1)
#define cudaInvalidDeviceId ((int)-2)
#define cudaEventInterprocess 0x04
#define cudaIpcMemLazyEnablePeerAccess 0x01
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal,
  cudaStreamCaptureModeThreadLocal,
  cudaStreamCaptureModeRelaxed
};
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone,
  cudaStreamCaptureStatusActive,
  cudaStreamCaptureStatusInvalidated
};
enum cudaMemoryAdvise {
  cudaMemAdviseSetReadMostly = 1,
  cudaMemAdviseUnsetReadMostly = 2,
  cudaMemAdviseSetPreferredLocation = 3,
  cudaMemAdviseUnsetPreferredLocation = 4,
  cudaMemAdviseSetAccessedBy = 5,
  cudaMemAdviseUnsetAccessedBy = 6
};
enum cudaComputeMode {
  cudaComputeModeDefault,
  cudaComputeModeExclusive,
  cudaComputeModeProhibited,
  cudaComputeModeExclusiveProcess
};
enum cudaLimit {
  cudaLimitStackSize,
  cudaLimitPrintfFifoSize,
  cudaLimitMallocHeapSize,
  cudaLimitDevRuntimeSyncDepth,
  cudaLimitDevRuntimePendingLaunchCount,
  cudaLimitMaxL2FetchGranularity,
  cudaLimitPersistingL2CacheSize
};
enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault,
  cudaSharedMemBankSizeFourByte,
  cudaSharedMemBankSizeEightByte
};
enum cudaMemoryType {
  cudaMemoryTypeUnregistered,
  cudaMemoryTypeHost,
  cudaMemoryTypeDevice,
  cudaMemoryTypeManaged
};
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void *devicePointer, *hostPointer;
};
struct cudaIpcMemHandle_t { char reserved[64]; };
struct cudaIpcEventHandle_t { char reserved[64]; };
typedef struct CUgraphNode_st *cudaGraphNode_t;
typedef void (*cudaHostFn_t)(void *data);
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void *data);
struct cudaKernelNodeParams {
  void *func;
  dim3 gridDim, blockDim;
  unsigned int sharedMemBytes;
  void **kernelParams, **extra;
};
struct cudaHostNodeParams {
  cudaHostFn_t fn;
  void *userData;
};
struct cudaMemsetParams {
  void *dst;
  size_t pitch;
  unsigned int value, elementSize;
  size_t width, height;
};
struct cudaPitchedPtr {
  void *ptr;
  size_t pitch, xsize, ysize;
};
struct cudaExtent { size_t width, height, depth; };
struct cudaPos { size_t x, y, z; };
typedef struct cudaArray *cudaArray_t;
typedef const struct cudaArray *cudaArray_const_t;
struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  cudaMemcpyKind kind;
};
struct cudaMemcpy3DPeerParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  int srcDevice;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  int dstDevice;
  cudaExtent extent;
};
enum cudaGraphExecUpdateResult {
  cudaGraphExecUpdateSuccess,
  cudaGraphExecUpdateError,
  cudaGraphExecUpdateErrorTopologyChanged,
  cudaGraphExecUpdateErrorNodeTypeChanged,
  cudaGraphExecUpdateErrorFunctionChanged,
  cudaGraphExecUpdateErrorParametersChanged,
  cudaGraphExecUpdateErrorNotSupported,
  cudaGraphExecUpdateErrorUnsupportedFunctionChange,
  cudaGraphExecUpdateErrorAttributesChanged
};
struct cudaGraphExecUpdateResultInfo {
  cudaGraphExecUpdateResult result;
  cudaGraphNode_t errorNode, errorFromNode;
};
struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes,
      preferredShmemCarveout;
};
struct cudaUUID_t { char bytes[16]; };
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock, totalConstMem, sharedMemPerMultiprocessor, sharedMemPerBlockOptin, memPitch,
      textureAlignment, surfaceAlignment;
  int clockRate, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, regsPerMultiprocessor,
      asyncEngineCount, deviceOverlap, integrated, canMapHostMemory, computeMode, ECCEnabled, pciBusID, pciDeviceID,
      pciDomainID, tccDriver, unifiedAddressing, managedMemory, isMultiGpuBoard, pageableMemoryAccess,
      concurrentManagedAccess, kernelExecTimeoutEnabled, streamPrioritiesSupported, globalL1CacheSupported,
      localL1CacheSupported, singleToDoublePrecisionPerfRatio, maxTexture1D, maxTexture2D[2], maxTexture3D[3];
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], major, minor, multiProcessorCount,
      maxThreadsPerMultiProcessor, concurrentKernels, cooperativeLaunch, maxBlocksPerMultiProcessor;
  int hostNativeAtomicSupported, computePreemptionSupported, canUseHostPointerForRegisteredMem,
      cooperativeMultiDeviceLaunch, pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost,
      accessPolicyMaxWindowSize, multiGpuBoardGroupID, hostRegisterSupported, memoryPoolsSupported, maxTexture1DLinear,
      maxTexture2DLinear[3], maxTexture1DLayered[2], maxTexture2DLayered[3], maxTextureCubemap;
  size_t reservedSharedMemPerBlock, texturePitchAlignment;
  cudaUUID_t uuid;
};

// Launches with attributes: https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__EXECUTION.html. One that lets the
// kernel start early, or sooner than others, may be ignored; clusters cannot.
enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore = 0,
  cudaLaunchAttributeAccessPolicyWindow = 1,
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeSynchronizationPolicy = 3,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
  cudaLaunchAttributeProgrammaticEvent = 7,
  cudaLaunchAttributePriority = 8
};
enum cudaAccessProperty { cudaAccessPropertyNormal, cudaAccessPropertyStreaming, cudaAccessPropertyPersisting };
struct cudaAccessPolicyWindow {
  void *base_ptr;
  size_t num_bytes;
  float hitRatio;
  cudaAccessProperty hitProp, missProp;
};
union cudaLaunchAttributeValue {
  char pad[64];
  cudaAccessPolicyWindow accessPolicyWindow;
  int cooperative, priority, programmaticStreamSerializationAllowed;
  struct { unsigned int x, y, z; } clusterDim;
};
typedef cudaLaunchAttributeID cudaStreamAttrID;
typedef cudaLaunchAttributeValue cudaStreamAttrValue;
#define cudaStreamAttributeAccessPolicyWindow cudaLaunchAttributeAccessPolicyWindow
#define cudaStreamAttributePriority cudaLaunchAttributePriority
enum cudaDeviceP2PAttr {
  cudaDevP2PAttrPerformanceRank = 1,
  cudaDevP2PAttrAccessSupported = 2,
  cudaDevP2PAttrNativeAtomicSupported = 3,
  cudaDevP2PAttrCudaArrayAccessSupported = 4
};
enum cudaMemRangeAttribute {
  cudaMemRangeAttributeReadMostly = 1,
  cudaMemRangeAttributePreferredLocation = 2,
  cudaMemRangeAttributeAccessedBy = 3,
  cudaMemRangeAttributeLastPrefetchLocation = 4
};
enum cudaMemPoolAttr {
  cudaMemPoolReuseFollowEventDependencies = 1,
  cudaMemPoolReuseAllowOpportunistic = 2,
  cudaMemPoolReuseAllowInternalDependencies = 3,
  cudaMemPoolAttrReleaseThreshold = 4,
  cudaMemPoolAttrReservedMemCurrent = 5,
  cudaMemPoolAttrReservedMemHigh = 6,
  cudaMemPoolAttrUsedMemCurrent = 7,
  cudaMemPoolAttrUsedMemHigh = 8
};
enum cudaMemAllocationType { cudaMemAllocationTypeInvalid, cudaMemAllocationTypePinned };
enum cudaMemAllocationHandleType { cudaMemHandleTypeNone, cudaMemHandleTypePosixFileDescriptor };
enum cudaMemLocationType { cudaMemLocationTypeInvalid, cudaMemLocationTypeDevice, cudaMemLocationTypeHost };
enum cudaMemAccessFlags {
  cudaMemAccessFlagsProtNone = 0,
  cudaMemAccessFlagsProtRead = 1,
  cudaMemAccessFlagsProtReadWrite = 3
};
struct cudaMemLocation {
  cudaMemLocationType type;
  int id;
};
struct cudaMemAccessDesc {
  cudaMemLocation location;
  cudaMemAccessFlags flags;
};
struct cudaMemPoolProps {
  cudaMemAllocationType allocType;
  cudaMemAllocationHandleType handleTypes;
  cudaMemLocation location;
  void *win32SecurityAttributes;
  size_t maxSize;
  unsigned char reserved[56];
};
enum cudaGraphNodeType {
  cudaGraphNodeTypeKernel,
  cudaGraphNodeTypeMemcpy,
  cudaGraphNodeTypeMemset,
  cudaGraphNodeTypeHost,
  cudaGraphNodeTypeGraph,
  cudaGraphNodeTypeEmpty
};
#define cudaGraphInstantiateFlagAutoFreeOnLaunch 1
#define cudaGraphDebugDotFlagsVerbose 1
#define cudaEventRecordDefault 0
#define cudaEventRecordExternal 1
#define cudaEventWaitDefault 0

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
__OFFLOAD_HOST cudaError_t __cudaDescribeDevice(char *name, size_t size, size_t *memory, int device);
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
__OFFLOAD_HOST cudaError_t cudaDeviceReset();
__OFFLOAD_HOST cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value);
__OFFLOAD_HOST cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit);
__OFFLOAD_HOST cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer);
__OFFLOAD_HOST cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags);
__OFFLOAD_HOST cudaError_t cudaDeviceDisablePeerAccess(int peer);
__OFFLOAD_HOST cudaError_t cudaDeviceGetPCIBusId(char *id, int size, int device);
__OFFLOAD_HOST cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
__OFFLOAD_HOST cudaError_t cudaDriverGetVersion(int *version);
__OFFLOAD_HOST cudaError_t cudaRuntimeGetVersion(int *version);
__OFFLOAD_HOST cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority);
__OFFLOAD_HOST cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data);
__OFFLOAD_HOST cudaError_t cudaHostAlloc(void **memory, size_t size, unsigned int flags);
__OFFLOAD_HOST cudaError_t cudaHostRegister(void *memory, size_t size, unsigned int flags);
__OFFLOAD_HOST cudaError_t cudaHostUnregister(void *memory);
__OFFLOAD_HOST cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned int flags);
__OFFLOAD_HOST cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *memory);
__OFFLOAD_HOST cudaError_t cudaMallocPitch(void **memory, size_t *pitch, size_t width, size_t height);
__OFFLOAD_HOST cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                        size_t height, cudaMemcpyKind kind);
__OFFLOAD_HOST cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                             size_t height, cudaMemcpyKind kind, cudaStream_t stream = 0);
__OFFLOAD_HOST cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *parameters);
__OFFLOAD_HOST cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t size);
__OFFLOAD_HOST cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t size,
                                               cudaStream_t stream = 0);
__OFFLOAD_HOST cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms *parameters, cudaStream_t stream = 0);
__OFFLOAD_HOST cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *memory);
__OFFLOAD_HOST cudaError_t cudaIpcOpenMemHandle(void **memory, cudaIpcMemHandle_t handle, unsigned int flags);
__OFFLOAD_HOST cudaError_t cudaIpcCloseMemHandle(void *memory);
__OFFLOAD_HOST cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event);
__OFFLOAD_HOST cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle);
__OFFLOAD_HOST cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
__OFFLOAD_HOST cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
__OFFLOAD_HOST cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status);
__OFFLOAD_HOST cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int flags);
__OFFLOAD_HOST cudaError_t cudaGraphDestroy(cudaGraph_t graph);
__OFFLOAD_HOST cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream);
__OFFLOAD_HOST cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph);
__OFFLOAD_HOST cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                               cudaGraphExecUpdateResultInfo *info);
__OFFLOAD_HOST cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph);
__OFFLOAD_HOST cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count);
__OFFLOAD_HOST cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                                  size_t count, const cudaKernelNodeParams *parameters);
__OFFLOAD_HOST cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                                  size_t count, const cudaMemcpy3DParms *parameters);
__OFFLOAD_HOST cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                                  size_t count, const cudaMemsetParams *parameters);
__OFFLOAD_HOST cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                                size_t count, const cudaHostNodeParams *parameters);
__OFFLOAD_HOST cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel, int block,
                                                                         size_t shared);
__OFFLOAD_HOST cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags);
__OFFLOAD_HOST cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *status,
                                                    unsigned long long *id = 0);
__OFFLOAD_HOST cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode);
__OFFLOAD_HOST cudaError_t cudaHostGetFlags(unsigned int *flags, void *memory);
__OFFLOAD_HOST cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms *parameters);
__OFFLOAD_HOST cudaError_t cudaMemRangeGetAttribute(void *data, size_t data_size, cudaMemRangeAttribute attribute,
                                                    const void *memory, size_t size);
__OFFLOAD_HOST cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device);
__OFFLOAD_HOST cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device);
__OFFLOAD_HOST cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool);
__OFFLOAD_HOST cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *properties);
__OFFLOAD_HOST cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
__OFFLOAD_HOST cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value);
__OFFLOAD_HOST cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value);
__OFFLOAD_HOST cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t size);
__OFFLOAD_HOST cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *accesses, size_t count);
__OFFLOAD_HOST cudaError_t cudaMallocFromPoolAsync(void **memory, size_t size, cudaMemPool_t pool, cudaStream_t stream);
__OFFLOAD_HOST cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                    const cudaGraphNode_t *to, size_t count);
__OFFLOAD_HOST cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                                 size_t count);
__OFFLOAD_HOST cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                                      const cudaGraphNode_t *after, size_t count, cudaGraph_t child);
__OFFLOAD_HOST cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                                    const cudaGraphNode_t *after, size_t count, void *to,
                                                    const void *from, size_t size, cudaMemcpyKind kind);
__OFFLOAD_HOST cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count);
__OFFLOAD_HOST cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *type);
__OFFLOAD_HOST cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams *parameters);
__OFFLOAD_HOST cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams *parameters);
__OFFLOAD_HOST cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node,
                                                            const cudaKernelNodeParams *parameters);
__OFFLOAD_HOST cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t graph, cudaGraphNode_t node, void *to,
                                                              const void *from, size_t size, cudaMemcpyKind kind);
__OFFLOAD_HOST cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                                         unsigned long long flags = 0);
__OFFLOAD_HOST cudaError_t cudaGraphUpload(cudaGraphExec_t graph, cudaStream_t stream);
__OFFLOAD_HOST cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned int flags);
__OFFLOAD_HOST cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                                  cudaStreamAttrValue *value);
__OFFLOAD_HOST cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *kernel,
                                                                                  int block, size_t shared,
                                                                                  unsigned int flags);
}
// Hints, and functions that others make up.
#define __OFFLOAD_HOST_INLINE static inline __attribute__((host)) cudaError_t
__OFFLOAD_HOST_INLINE cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
__OFFLOAD_HOST_INLINE cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
__OFFLOAD_HOST_INLINE cudaFuncSetSharedMemConfig(const void *, cudaSharedMemConfig) { return cudaSuccess; }
__OFFLOAD_HOST_INLINE cudaSetDeviceFlags(unsigned int) { return cudaSuccess; }
__OFFLOAD_HOST_INLINE cudaInitDevice(int device, unsigned int, unsigned int) { return cudaSetDevice(device); }
__OFFLOAD_HOST_INLINE cudaGetDeviceFlags(unsigned int *flags) {
  *flags = cudaDeviceScheduleAuto;
  return cudaSuccess;
}
__OFFLOAD_HOST_INLINE cudaDeviceGetCacheConfig(cudaFuncCache *cache) {
  *cache = cudaFuncCachePreferNone;
  return cudaSuccess;
}
__OFFLOAD_HOST_INLINE cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *config) {
  *config = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}
__OFFLOAD_HOST_INLINE cudaCtxResetPersistingL2Cache() { return cudaSuccess; }
__OFFLOAD_HOST_INLINE cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
__OFFLOAD_HOST_INLINE cudaThreadExit() { return cudaDeviceReset(); }
__OFFLOAD_HOST_INLINE cudaProfilerStart() { return cudaSuccess; }
__OFFLOAD_HOST_INLINE cudaProfilerStop() { return cudaSuccess; }
__OFFLOAD_HOST_INLINE cudaMemPrefetchAsync(const void *, size_t, int, cudaStream_t = 0) { return cudaSuccess; }
__OFFLOAD_HOST_INLINE cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, int) { return cudaSuccess; }
__OFFLOAD_HOST_INLINE cudaStreamAttachMemAsync(cudaStream_t, void *, size_t = 0, unsigned int = cudaMemAttachSingle) {
  return cudaSuccess;
}
__OFFLOAD_HOST_INLINE cudaStreamSetAttribute(cudaStream_t, cudaStreamAttrID, const cudaStreamAttrValue *) {
  return cudaSuccess;
}
__OFFLOAD_HOST_INLINE cudaSetValidDevices(int *, int) { return cudaSuccess; }
__OFFLOAD_HOST_INLINE cudaChooseDevice(int *device, const cudaDeviceProp *) { return cudaGetDevice(device); }
__OFFLOAD_HOST_INLINE cudaEventCreate(cudaEvent_t *event, unsigned int flags) {
  return cudaEventCreateWithFlags(event, flags);
}
__OFFLOAD_HOST_INLINE cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = 0, unsigned int = 0) {
  return cudaEventRecord(event, stream);
}
__OFFLOAD_HOST_INLINE cudaStreamGetPriority(cudaStream_t, int *priority) {
  *priority = 0;
  return cudaSuccess;
}
struct __offload_stream_callback {
  cudaStreamCallback_t function;
  cudaStream_t stream;
  void *data;
};
static inline __attribute__((host)) void __offload_call_back(void *data) {
  __offload_stream_callback call = *(__offload_stream_callback *)data;
  free(data);
  call.function(call.stream, cudaSuccess, call.data);
}
__OFFLOAD_HOST_INLINE cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned int) {
  auto *call = (__offload_stream_callback *)malloc(sizeof(__offload_stream_callback));
  if (!call) return cudaErrorMemoryAllocation;
  *call = {callback, stream, data};
  cudaError_t error = cudaLaunchHostFunc(stream, __offload_call_back, call);
  if (error) free(call);
  return error;
}
__OFFLOAD_HOST_INLINE cudaDeviceGetByPCIBusId(int *device, const char *id) {
  int count;
  cudaError_t error = cudaGetDeviceCount(&count);
  for (int i = 0; i < count && !error; i++) {
    char own[32];
    error = cudaDeviceGetPCIBusId(own, sizeof(own), i);
    if (!error && !strcmp(own, id)) {
      *device = i;
      return cudaSuccess;
    }
  }
  return error ? error : cudaErrorInvalidDevice;
}
// Of what a device can do with another's memory only whether it reaches it is known.
__OFFLOAD_HOST_INLINE cudaDeviceGetP2PAttribute(int *value, cudaDeviceP2PAttr attribute, int from, int to) {
  cudaError_t error = cudaDeviceCanAccessPeer(value, from, to);
  if (attribute != cudaDevP2PAttrAccessSupported) *value = 0;
  return error;
}
__OFFLOAD_HOST_INLINE cudaMalloc3D(cudaPitchedPtr *memory, cudaExtent extent) {
  cudaPitchedPtr rows = {nullptr, 0, extent.width, extent.height};
  cudaError_t error = cudaMallocPitch(&rows.ptr, &rows.pitch, extent.width, extent.height * extent.depth);
  if (!error) *memory = rows;
  return error;
}
// Rows without space between them are one.
__OFFLOAD_HOST_INLINE cudaMemset2DAsync(void *memory, size_t pitch, int value, size_t width, size_t height,
                                        cudaStream_t stream = 0) {
  if (pitch == width) return cudaMemsetAsync(memory, value, width * height, stream);
  cudaError_t error = cudaSuccess;
  for (size_t row = 0; row < height && !error; row++)
    error = cudaMemsetAsync((char *)memory + row * pitch, value, width, stream);
  return error;
}
__OFFLOAD_HOST_INLINE cudaMemset2D(void *memory, size_t pitch, int value, size_t width, size_t height) {
  cudaError_t error = cudaMemset2DAsync(memory, pitch, value, width, height);
  return error ? error : cudaStreamSynchronize(0);
}
__OFFLOAD_HOST_INLINE cudaMemset3DAsync(cudaPitchedPtr memory, int value, cudaExtent extent, cudaStream_t stream = 0) {
  cudaError_t error = cudaSuccess;
  size_t slice = memory.pitch * memory.ysize;
  for (size_t z = 0; z < extent.depth && !error; z++)
    error = cudaMemset2DAsync((char *)memory.ptr + z * slice, memory.pitch, value, extent.width, extent.height, stream);
  return error;
}
__OFFLOAD_HOST_INLINE cudaMemset3D(cudaPitchedPtr memory, int value, cudaExtent extent) {
  cudaError_t error = cudaMemset3DAsync(memory, value, extent);
  return error ? error : cudaStreamSynchronize(0);
}
// What a device has no number for is 0.
static inline __attribute__((host)) int __offload_device_number(cudaDeviceAttr attribute, int device) {
  int value;
  if (!cudaDeviceGetAttribute(&value, attribute, device)) return value;
  cudaGetLastError();
  return 0;
}
__OFFLOAD_HOST_INLINE cudaGetDeviceProperties(cudaDeviceProp *properties, int device) {
  cudaDeviceProp p = {};
  cudaError_t error = __cudaDescribeDevice(p.name, sizeof(p.name), &p.totalGlobalMem, device);
  if (error) return error;
  p.sharedMemPerBlock = __offload_device_number(cudaDevAttrMaxSharedMemoryPerBlock, device);
  p.sharedMemPerBlockOptin = __offload_device_number(cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  p.sharedMemPerMultiprocessor = __offload_device_number(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
  p.totalConstMem = __offload_device_number(cudaDevAttrTotalConstantMemory, device);
  p.clockRate = __offload_device_number(cudaDevAttrClockRate, device);
  p.memoryClockRate = __offload_device_number(cudaDevAttrMemoryClockRate, device);
  p.memoryBusWidth = __offload_device_number(cudaDevAttrGlobalMemoryBusWidth, device);
  p.l2CacheSize = __offload_device_number(cudaDevAttrL2CacheSize, device);
  p.regsPerBlock = __offload_device_number(cudaDevAttrMaxRegistersPerBlock, device);
  p.regsPerMultiprocessor = __offload_device_number(cudaDevAttrMaxRegistersPerMultiprocessor, device);
  p.kernelExecTimeoutEnabled = __offload_device_number(cudaDevAttrKernelExecTimeout, device);
  p.integrated = __offload_device_number(cudaDevAttrIntegrated, device);
  p.canMapHostMemory = __offload_device_number(cudaDevAttrCanMapHostMemory, device);
  p.computeMode = __offload_device_number(cudaDevAttrComputeMode, device);
  p.concurrentKernels = __offload_device_number(cudaDevAttrConcurrentKernels, device);
  p.cooperativeLaunch = __offload_device_number(cudaDevAttrCooperativeLaunch, device);
  p.unifiedAddressing = __offload_device_number(cudaDevAttrUnifiedAddressing, device);
  p.managedMemory = __offload_device_number(cudaDevAttrManagedMemory, device);
  p.warpSize = __offload_device_number(cudaDevAttrWarpSize, device);
  p.maxThreadsPerBlock = __offload_device_number(cudaDevAttrMaxThreadsPerBlock, device);
  p.maxThreadsPerMultiProcessor = __offload_device_number(cudaDevAttrMaxThreadsPerMultiProcessor, device);
  p.multiProcessorCount = __offload_device_number(cudaDevAttrMultiProcessorCount, device);
  p.maxThreadsDim[0] = __offload_device_number(cudaDevAttrMaxBlockDimX, device);
  p.maxThreadsDim[1] = __offload_device_number(cudaDevAttrMaxBlockDimY, device);
  p.maxThreadsDim[2] = __offload_device_number(cudaDevAttrMaxBlockDimZ, device);
  p.maxGridSize[0] = __offload_device_number(cudaDevAttrMaxGridDimX, device);
  p.maxGridSize[1] = __offload_device_number(cudaDevAttrMaxGridDimY, device);
  p.maxGridSize[2] = __offload_device_number(cudaDevAttrMaxGridDimZ, device);
  p.memPitch = __offload_device_number(cudaDevAttrMaxPitch, device);
  p.textureAlignment = __offload_device_number(cudaDevAttrTextureAlignment, device);
  p.surfaceAlignment = __offload_device_number(cudaDevAttrSurfaceAlignment, device);
  p.asyncEngineCount = __offload_device_number(cudaDevAttrAsyncEngineCount, device);
  p.deviceOverlap = __offload_device_number(cudaDevAttrGpuOverlap, device);
  p.ECCEnabled = __offload_device_number(cudaDevAttrEccEnabled, device);
  p.pciBusID = __offload_device_number(cudaDevAttrPciBusId, device);
  p.pciDeviceID = __offload_device_number(cudaDevAttrPciDeviceId, device);
  p.pciDomainID = __offload_device_number(cudaDevAttrPciDomainId, device);
  p.tccDriver = __offload_device_number(cudaDevAttrTccDriver, device);
  p.isMultiGpuBoard = __offload_device_number(cudaDevAttrIsMultiGpuBoard, device);
  p.multiGpuBoardGroupID = __offload_device_number(cudaDevAttrMultiGpuBoardGroupID, device);
  p.pageableMemoryAccess = __offload_device_number(cudaDevAttrPageableMemoryAccess, device);
  p.concurrentManagedAccess = __offload_device_number(cudaDevAttrConcurrentManagedAccess, device);
  p.streamPrioritiesSupported = __offload_device_number(cudaDevAttrStreamPrioritiesSupported, device);
  p.globalL1CacheSupported = __offload_device_number(cudaDevAttrGlobalL1CacheSupported, device);
  p.localL1CacheSupported = __offload_device_number(cudaDevAttrLocalL1CacheSupported, device);
  p.singleToDoublePrecisionPerfRatio = __offload_device_number(cudaDevAttrSingleToDoublePrecisionPerfRatio, device);
  p.maxBlocksPerMultiProcessor = __offload_device_number(cudaDevAttrMaxBlocksPerMultiprocessor, device);
  p.hostNativeAtomicSupported = __offload_device_number(cudaDevAttrHostNativeAtomicSupported, device);
  p.computePreemptionSupported = __offload_device_number(cudaDevAttrComputePreemptionSupported, device);
  p.hostRegisterSupported = __offload_device_number(cudaDevAttrHostRegisterSupported, device);
  p.memoryPoolsSupported = __offload_device_number(cudaDevAttrMemoryPoolsSupported, device);
  p.persistingL2CacheMaxSize = __offload_device_number(cudaDevAttrMaxPersistingL2CacheSize, device);
  p.accessPolicyMaxWindowSize = __offload_device_number(cudaDevAttrMaxAccessPolicyWindowSize, device);
  p.reservedSharedMemPerBlock = __offload_device_number(cudaDevAttrReservedSharedMemoryPerBlock, device);
  p.major = __offload_device_number(cudaDevAttrComputeCapabilityMajor, device);
  p.minor = __offload_device_number(cudaDevAttrComputeCapabilityMinor, device);
  *properties = p;
  return cudaSuccess;
}
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  char pad[8 - sizeof(cudaLaunchAttributeID)];
  cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned int numAttrs;
};
__OFFLOAD_HOST_INLINE cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **arguments) {
  const cudaLaunchConfig_t &c = *config;
  bool is_cooperative = false;
  for (unsigned int i = 0; i < c.numAttrs; i++) {
    const cudaLaunchAttributeValue &value = c.attrs[i].val;
    if (c.attrs[i].id == cudaLaunchAttributeCooperative) is_cooperative = value.cooperative != 0;
    if (c.attrs[i].id == cudaLaunchAttributeClusterDimension &&
        value.clusterDim.x * value.clusterDim.y * value.clusterDim.z > 1)
      return cudaErrorNotSupported;
  }
  if (is_cooperative)
    return cudaLaunchCooperativeKernel(kernel, c.gridDim, c.blockDim, arguments, c.dynamicSmemBytes, c.stream);
  return cudaLaunchKernel(kernel, c.gridDim, c.blockDim, arguments, c.dynamicSmemBytes, c.stream);
}
template <typename... P, typename... A>
static inline __attribute__((host)) cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config,
                                                                   void (*kernel)(P...), A &&...arguments) {
  // The arguments as the kernel declares them.
  auto launch = [&](P... values) {
    void *addresses[] = {(void *)&values..., nullptr};
    return cudaLaunchKernelExC(config, (const void *)kernel, addresses);
  };
  return launch(static_cast<A &&>(arguments)...);
}
#undef __OFFLOAD_HOST_INLINE
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
__OFFLOAD_HOST_TEMPLATE cudaHostAlloc(T **memory, size_t size, unsigned int flags) {
  return cudaHostAlloc((void **)memory, size, flags);
}
__OFFLOAD_HOST_TEMPLATE cudaHostGetDevicePointer(T **device, void *host, unsigned int flags) {
  return cudaHostGetDevicePointer((void **)device, host, flags);
}
__OFFLOAD_HOST_TEMPLATE cudaMallocPitch(T **memory, size_t *pitch, size_t width, size_t height) {
  return cudaMallocPitch((void **)memory, pitch, width, height);
}
__OFFLOAD_HOST_TEMPLATE cudaFuncSetSharedMemConfig(T *kernel, cudaSharedMemConfig config) {
  return cudaFuncSetSharedMemConfig((const void *)kernel, config);
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
// What `blocks` of a multiprocessor can have each, besides what each reserves and declares.
__OFFLOAD_HOST_TEMPLATE cudaOccupancyAvailableDynamicSMemPerBlock(size_t *size, T kernel, int blocks, int) {
  cudaFuncAttributes attributes;
  int device, all, most, reserved;
  cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
  if (!error) error = cudaGetDevice(&device);
  if (error) return error;
  if (blocks < 1) return cudaErrorInvalidValue;
  all = __offload_device_number(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
  most = __offload_device_number(cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  reserved = __offload_device_number(cudaDevAttrReservedSharedMemoryPerBlock, device);
  int each = all / blocks - reserved;
  if (each > most) each = most;
  each -= (int)attributes.sharedSizeBytes;
  *size = each > 0 ? each : 0;
  return cudaSuccess;
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
// The same with a size of shared memory for each size of a block.
template <typename T, typename F>
static inline __attribute__((host)) cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block,
                                                                                               T kernel, F shared,
                                                                                               int limit = 0) {
  cudaError_t error = cudaOccupancyMaxPotentialBlockSize(grid, block, kernel, 0, limit);
  return error ? error : cudaOccupancyMaxPotentialBlockSize(grid, block, kernel, shared(*block), limit);
}
__OFFLOAD_HOST_TEMPLATE cudaOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, T kernel, size_t shared,
                                                                    int limit, unsigned int) {
  return cudaOccupancyMaxPotentialBlockSize(grid, block, kernel, shared, limit);
}
__OFFLOAD_HOST_TEMPLATE cudaMallocFromPoolAsync(T **memory, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  return cudaMallocFromPoolAsync((void **)memory, size, pool, stream);
}
#undef __OFFLOAD_HOST_TEMPLATE
static inline __attribute__((host)) cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
  return {width, height, depth};
}
static inline __attribute__((host)) cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
static inline __attribute__((host)) cudaPitchedPtr make_cudaPitchedPtr(void *memory, size_t pitch, size_t width,
                                                                       size_t height) {
  return {memory, pitch, width, height};
}
// In the forms of CUDA 12 and 11.
static inline __attribute__((host)) cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                                                     unsigned long long flags = 0) {
  return cudaGraphInstantiateWithFlags(exec, graph, flags);
}
static inline __attribute__((host)) cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                                                     cudaGraphNode_t *, char *, size_t) {
  return cudaGraphInstantiateWithFlags(exec, graph);
}
#undef __OFFLOAD_SYMBOL
// Conversions that clang calls where the CPU has no instruction: libgcc has them since 13, and Rust's library has not.
extern "C" {
__attribute__((host, weak, used, visibility("hidden"))) __bf16 __truncsfbf2(float v) {
  unsigned int bits = __builtin_bit_cast(unsigned int, v);
  unsigned int rounded = bits + 0x7fff + (bits >> 16 & 1);
  if (v != v) rounded = bits | 0x400000;
  return __builtin_bit_cast(__bf16, (unsigned short)(rounded >> 16));
}
// To odd first, so that the result is rounded once.
__attribute__((host, weak, used, visibility("hidden"))) __bf16 __truncdfbf2(double v) {
  float rounded = (float)v;
  unsigned int bits = __builtin_bit_cast(unsigned int, rounded);
  bool is_exact = rounded == v || v != v;
  if (!is_exact) {
    double magnitude = v < 0 ? -v : v, nearest = rounded < 0 ? -rounded : rounded;
    bits = (nearest > magnitude ? bits - 1 : bits) | 1;
  }
  return __truncsfbf2(__builtin_bit_cast(float, bits));
}
}
// nvcc lets functions for the host name it.
static inline __host__ void __trap() { __builtin_trap(); }
#undef __OFFLOAD_HOST
