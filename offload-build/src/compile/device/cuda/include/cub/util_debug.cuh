// What reports errors of CUDA's runtime: https://nvidia.github.io/cccl/cub/api/group__util.html
#pragma once
#include <offload_names_begin.h>
#define CUB_VERSION 200500
#define CUB_RUNTIME_FUNCTION __host__
namespace cub {
static inline __host__ cudaError_t Debug(cudaError_t error, const char *file, int line) {
  if (error) fprintf(stderr, "CUDA error %d [%s, %d]: %s\n", error, file, line, cudaGetErrorString(error));
  return error;
}
// Memory that is allocated at each call: what it would keep is the driver's pool.
struct CachingDeviceAllocator {
  explicit __host__ CachingDeviceAllocator(bool = false, bool = false) {}
  __host__ CachingDeviceAllocator(unsigned int, unsigned int = 1, unsigned int = 0, size_t = 0, bool = false,
                                  bool = false) {}
  __host__ cudaError_t DeviceAllocate(void **memory, size_t size, cudaStream_t stream = 0) {
    return cudaMallocAsync(memory, size, stream);
  }
  __host__ cudaError_t DeviceAllocate(int, void **memory, size_t size, cudaStream_t stream = 0) {
    return cudaMallocAsync(memory, size, stream);
  }
  __host__ cudaError_t DeviceFree(void *memory) { return cudaFree(memory); }
  __host__ cudaError_t DeviceFree(int, void *memory) { return cudaFree(memory); }
  __host__ cudaError_t FreeAllCached() { return cudaSuccess; }
};
}
#define CubDebug(CALL) cub::Debug((cudaError_t)(CALL), __FILE__, __LINE__)
#define CubDebugExit(CALL) \
  if (CubDebug(CALL)) exit(1)
#include <offload_names_end.h>
