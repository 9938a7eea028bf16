// Texture and surface objects: their types, and what host functions call to make them.
// https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TEXTURE__OBJECT.html
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
enum cudaTextureAddressMode {
  cudaAddressModeWrap,
  cudaAddressModeClamp,
  cudaAddressModeMirror,
  cudaAddressModeBorder
};
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned,
  cudaChannelFormatKindUnsigned,
  cudaChannelFormatKindFloat,
  cudaChannelFormatKindNone
};
enum cudaResourceType {
  cudaResourceTypeArray,
  cudaResourceTypeMipmappedArray,
  cudaResourceTypeLinear,
  cudaResourceTypePitch2D
};
struct cudaChannelFormatDesc {
  int x, y, z, w;
  cudaChannelFormatKind f;
};
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct { cudaArray_t array; } array;
    struct { void *devPtr; cudaChannelFormatDesc desc; size_t sizeInBytes; } linear;
    struct { void *devPtr; cudaChannelFormatDesc desc; size_t width, height, pitchInBytes; } pitch2D;
  } res;
};
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned int maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization, seamlessCubemap;
};
struct cudaResourceViewDesc;
#define cudaArrayDefault 0x00
#define cudaArrayLayered 0x01
#define cudaArraySurfaceLoadStore 0x02
#define cudaArrayCubemap 0x04
#define cudaArrayTextureGather 0x08
#define __OFFLOAD_HOST extern __attribute__((host))
extern "C" {
__OFFLOAD_HOST cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture, const cudaResourceDesc *resource,
                                                   const cudaTextureDesc *description,
                                                   const cudaResourceViewDesc *view);
__OFFLOAD_HOST cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture);
__OFFLOAD_HOST cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *surface, const cudaResourceDesc *resource);
__OFFLOAD_HOST cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface);
__OFFLOAD_HOST cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *channels, size_t width,
                                           size_t height = 0, unsigned int flags = 0);
__OFFLOAD_HOST cudaError_t cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *channels, cudaExtent extent,
                                             unsigned int flags = 0);
__OFFLOAD_HOST cudaError_t cudaFreeArray(cudaArray_t array);
__OFFLOAD_HOST cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                                               size_t width, size_t height, cudaMemcpyKind kind);
__OFFLOAD_HOST cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                                                    size_t width, size_t height, cudaMemcpyKind kind,
                                                    cudaStream_t stream = 0);
__OFFLOAD_HOST cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                                                 size_t width, size_t height, cudaMemcpyKind kind);
__OFFLOAD_HOST cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                                                      size_t width, size_t height, cudaMemcpyKind kind,
                                                      cudaStream_t stream = 0);
__OFFLOAD_HOST cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t size,
                                             cudaMemcpyKind kind);
__OFFLOAD_HOST cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t size,
                                               cudaMemcpyKind kind);
__OFFLOAD_HOST cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *parameters, cudaStream_t stream = 0);
}
#undef __OFFLOAD_HOST
static inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}
static inline __host__ cudaChannelFormatDesc cudaCreateChannelDescHalf() {
  return {16, 0, 0, 0, cudaChannelFormatKindFloat};
}
static inline __host__ cudaChannelFormatDesc cudaCreateChannelDescHalf2() {
  return {16, 16, 0, 0, cudaChannelFormatKindFloat};
}
static inline __host__ cudaChannelFormatDesc cudaCreateChannelDescHalf4() {
  return {16, 16, 16, 16, cudaChannelFormatKindFloat};
}
template <typename T> __host__ cudaChannelFormatDesc cudaCreateChannelDesc();
#define __OFFLOAD_CHANNELS(TYPE, NAME, KIND) \
  template <> inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<TYPE>() { \
    return {8 * (int)sizeof(TYPE), 0, 0, 0, cudaChannelFormatKind##KIND}; \
  } \
  template <> inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<NAME##1>() { \
    return {8 * (int)sizeof(TYPE), 0, 0, 0, cudaChannelFormatKind##KIND}; \
  } \
  template <> inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<NAME##2>() { \
    int bits = 8 * sizeof(TYPE); \
    return {bits, bits, 0, 0, cudaChannelFormatKind##KIND}; \
  } \
  template <> inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<NAME##4>() { \
    int bits = 8 * sizeof(TYPE); \
    return {bits, bits, bits, bits, cudaChannelFormatKind##KIND}; \
  }
__OFFLOAD_CHANNELS(signed char, char, Signed)
__OFFLOAD_CHANNELS(unsigned char, uchar, Unsigned)
__OFFLOAD_CHANNELS(short, short, Signed)
__OFFLOAD_CHANNELS(unsigned short, ushort, Unsigned)
__OFFLOAD_CHANNELS(int, int, Signed)
__OFFLOAD_CHANNELS(unsigned int, uint, Unsigned)
__OFFLOAD_CHANNELS(float, float, Float)
#undef __OFFLOAD_CHANNELS
template <> inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<char>() {
  return {8, 0, 0, 0, cudaChannelFormatKindSigned};
}
