// Textures and surfaces, which only NVIDIA's headers have: host functions that make them are checked, and kernels that read
// them are left out of images for others.
// https://docs.nvidia.com/cuda/cuda-c-programming-guide/#texture-functions
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
};
struct cudaResourceViewDesc;
extern __host__ cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture, const cudaResourceDesc *resource,
                                                    const cudaTextureDesc *description,
                                                    const cudaResourceViewDesc *view);
extern __host__ cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture);
extern __host__ cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *surface, const cudaResourceDesc *resource);
extern __host__ cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface);
extern __host__ cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *channels, size_t width,
                                            size_t height = 0, unsigned int flags = 0);
extern __host__ cudaError_t cudaFreeArray(cudaArray_t array);
extern __host__ cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                                                size_t width, size_t height, cudaMemcpyKind kind);
extern __host__ cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind);
template <typename T> __host__ cudaChannelFormatDesc cudaCreateChannelDesc();

// Without a definition: what calls a function that calls it has no code.
extern "C" __device__ void __offload_lacks_textures_and_surfaces();
#define __OFFLOAD_READ(NAME, OBJECT) \
  template <typename T, typename... P> static __device__ __forceinline__ T NAME(OBJECT, P...) { \
    __offload_lacks_textures_and_surfaces(); \
    return T(); \
  } \
  template <typename T, typename... P> static __device__ __forceinline__ void NAME(T *, OBJECT, P...) { \
    __offload_lacks_textures_and_surfaces(); \
  }
#define __OFFLOAD_WRITE(NAME) \
  template <typename T, typename... P> static __device__ __forceinline__ void NAME(T, cudaSurfaceObject_t, P...) { \
    __offload_lacks_textures_and_surfaces(); \
  }
__OFFLOAD_READ(tex1Dfetch, cudaTextureObject_t) __OFFLOAD_READ(tex1D, cudaTextureObject_t)
__OFFLOAD_READ(tex2D, cudaTextureObject_t) __OFFLOAD_READ(tex3D, cudaTextureObject_t)
__OFFLOAD_READ(tex1DLod, cudaTextureObject_t) __OFFLOAD_READ(tex2DLod, cudaTextureObject_t)
__OFFLOAD_READ(tex3DLod, cudaTextureObject_t) __OFFLOAD_READ(tex2Dgather, cudaTextureObject_t)
__OFFLOAD_READ(tex1DLayered, cudaTextureObject_t) __OFFLOAD_READ(tex2DLayered, cudaTextureObject_t)
__OFFLOAD_READ(texCubemap, cudaTextureObject_t)
__OFFLOAD_READ(surf1Dread, cudaSurfaceObject_t) __OFFLOAD_READ(surf2Dread, cudaSurfaceObject_t)
__OFFLOAD_READ(surf3Dread, cudaSurfaceObject_t)
__OFFLOAD_WRITE(surf1Dwrite) __OFFLOAD_WRITE(surf2Dwrite) __OFFLOAD_WRITE(surf3Dwrite)
#undef __OFFLOAD_READ
#undef __OFFLOAD_WRITE
