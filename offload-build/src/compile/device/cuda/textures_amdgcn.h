// Textures and surfaces, which images for AMD have not: what calls a function that calls one without a definition has no code.
extern "C" __device__ void __offload_lacks_textures_and_surfaces();
#define __OFFLOAD_READ(NAME, OBJECT) \
  template <typename T, typename... P> static __device__ __forceinline__ T NAME(OBJECT, P...) { \
    __offload_lacks_textures_and_surfaces(); \
    return T(); \
  } \
  template <typename T, typename... P> static __device__ __forceinline__ void NAME(T *, OBJECT, P...) { \
    __offload_lacks_textures_and_surfaces(); \
  }
#define __OFFLOAD_TEXTURE(NAME) __OFFLOAD_READ(NAME, cudaTextureObject_t)
#define __OFFLOAD_SURFACE(NAME) \
  __OFFLOAD_READ(NAME##read, cudaSurfaceObject_t) \
  template <typename T, typename... P> static __device__ __forceinline__ void NAME##write(T, cudaSurfaceObject_t, P...) { \
    __offload_lacks_textures_and_surfaces(); \
  }
__OFFLOAD_TEXTURE(tex1Dfetch) __OFFLOAD_TEXTURE(tex1D) __OFFLOAD_TEXTURE(tex1DLod) __OFFLOAD_TEXTURE(tex1DGrad)
__OFFLOAD_TEXTURE(tex2D) __OFFLOAD_TEXTURE(tex2DLod) __OFFLOAD_TEXTURE(tex2DGrad) __OFFLOAD_TEXTURE(tex2Dgather)
__OFFLOAD_TEXTURE(tex3D) __OFFLOAD_TEXTURE(tex3DLod) __OFFLOAD_TEXTURE(tex3DGrad)
__OFFLOAD_TEXTURE(tex1DLayered) __OFFLOAD_TEXTURE(tex1DLayeredLod) __OFFLOAD_TEXTURE(tex1DLayeredGrad)
__OFFLOAD_TEXTURE(tex2DLayered) __OFFLOAD_TEXTURE(tex2DLayeredLod) __OFFLOAD_TEXTURE(tex2DLayeredGrad)
__OFFLOAD_TEXTURE(texCubemap) __OFFLOAD_TEXTURE(texCubemapLod)
__OFFLOAD_TEXTURE(texCubemapLayered) __OFFLOAD_TEXTURE(texCubemapLayeredLod)
__OFFLOAD_SURFACE(surf1D) __OFFLOAD_SURFACE(surf2D) __OFFLOAD_SURFACE(surf3D) __OFFLOAD_SURFACE(surf1DLayered)
__OFFLOAD_SURFACE(surf2DLayered) __OFFLOAD_SURFACE(surfCubemap) __OFFLOAD_SURFACE(surfCubemapLayered)
#undef __OFFLOAD_SURFACE
#undef __OFFLOAD_TEXTURE
#undef __OFFLOAD_READ
