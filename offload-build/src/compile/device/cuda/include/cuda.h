// Types of the driver's interface, and the functions that files with kernels commonly call; they are checked and left out
// of images. A program that calls them links the driver's library:
// https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html
#pragma once
#define CUDA_VERSION CUDART_VERSION
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef enum cudaError_enum {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_NOT_SUPPORTED = 801,
  CUDA_ERROR_UNKNOWN = 999
} CUresult;
typedef enum {
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102,
  CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED = 102
} CUdevice_attribute;

// Virtual memory: https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__VA.html
typedef unsigned long long CUmemGenericAllocationHandle;
typedef enum { CU_MEM_ALLOCATION_TYPE_INVALID = 0, CU_MEM_ALLOCATION_TYPE_PINNED = 1 } CUmemAllocationType;
typedef enum { CU_MEM_HANDLE_TYPE_NONE = 0, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1 } CUmemAllocationHandleType;
typedef enum { CU_MEM_LOCATION_TYPE_INVALID = 0, CU_MEM_LOCATION_TYPE_DEVICE = 1 } CUmemLocationType;
typedef enum {
  CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
  CU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1
} CUmemAllocationGranularity_flags;
typedef enum {
  CU_MEM_ACCESS_FLAGS_PROT_NONE = 0,
  CU_MEM_ACCESS_FLAGS_PROT_READ = 1,
  CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3
} CUmemAccess_flags;
typedef struct {
  CUmemLocationType type;
  int id;
} CUmemLocation;
typedef struct {
  CUmemAllocationType type;
  CUmemAllocationHandleType requestedHandleTypes;
  CUmemLocation location;
  void *win32HandleMetaData;
  struct {
    unsigned char compressionType, gpuDirectRDMACapable;
    unsigned short usage;
    unsigned char reserved[4];
  } allocFlags;
} CUmemAllocationProp;
typedef struct {
  CUmemLocation location;
  CUmemAccess_flags flags;
} CUmemAccessDesc;

#define __OFFLOAD_DRIVER extern __attribute__((host)) CUresult
extern "C" {
__OFFLOAD_DRIVER cuInit(unsigned int flags);
__OFFLOAD_DRIVER cuDriverGetVersion(int *version);
__OFFLOAD_DRIVER cuGetErrorName(CUresult error, const char **name);
__OFFLOAD_DRIVER cuGetErrorString(CUresult error, const char **text);
__OFFLOAD_DRIVER cuDeviceGet(CUdevice *device, int ordinal);
__OFFLOAD_DRIVER cuDeviceGetCount(int *count);
__OFFLOAD_DRIVER cuDeviceGetName(char *name, int size, CUdevice device);
__OFFLOAD_DRIVER cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device);
__OFFLOAD_DRIVER cuMemAddressReserve(CUdeviceptr *address, size_t size, size_t alignment, CUdeviceptr wish,
                                     unsigned long long flags);
__OFFLOAD_DRIVER cuMemAddressFree(CUdeviceptr address, size_t size);
__OFFLOAD_DRIVER cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *properties,
                             unsigned long long flags);
__OFFLOAD_DRIVER cuMemRelease(CUmemGenericAllocationHandle handle);
__OFFLOAD_DRIVER cuMemMap(CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                          unsigned long long flags);
__OFFLOAD_DRIVER cuMemUnmap(CUdeviceptr address, size_t size);
__OFFLOAD_DRIVER cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc *access, size_t count);
__OFFLOAD_DRIVER cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *properties,
                                               CUmemAllocationGranularity_flags option);
}
#undef __OFFLOAD_DRIVER
