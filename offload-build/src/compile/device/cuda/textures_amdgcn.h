// Functions without a definition: what calls a function that calls it has no code.
#define __OFFLOAD_LIST(...) __VA_ARGS__
extern "C" __device__ void __offload_lacks_textures_and_surfaces();
#define __OFFLOAD_LACKING(NAME) \
  template <typename V, typename... P> static __device__ __forceinline__ void __offload_##NAME(V &&v, P...) { \
    __offload_lacks_textures_and_surfaces(); \
  }
__OFFLOAD_LACKING(tex1Dfetch) __OFFLOAD_LACKING(tex1D) __OFFLOAD_LACKING(tex1DLod) __OFFLOAD_LACKING(tex1DGrad)
__OFFLOAD_LACKING(tex2D) __OFFLOAD_LACKING(tex2DLod) __OFFLOAD_LACKING(tex2DGrad) __OFFLOAD_LACKING(tex2Dgather)
__OFFLOAD_LACKING(tex3D) __OFFLOAD_LACKING(tex3DLod) __OFFLOAD_LACKING(tex3DGrad)
__OFFLOAD_LACKING(tex1DLayered) __OFFLOAD_LACKING(tex1DLayeredLod) __OFFLOAD_LACKING(tex1DLayeredGrad)
__OFFLOAD_LACKING(tex2DLayered) __OFFLOAD_LACKING(tex2DLayeredLod) __OFFLOAD_LACKING(tex2DLayeredGrad)
__OFFLOAD_LACKING(texCubemap) __OFFLOAD_LACKING(texCubemapLod)
__OFFLOAD_LACKING(texCubemapLayered) __OFFLOAD_LACKING(texCubemapLayeredLod)
__OFFLOAD_LACKING(surf1Dread) __OFFLOAD_LACKING(surf1Dwrite) __OFFLOAD_LACKING(surf2Dread)
__OFFLOAD_LACKING(surf2Dwrite) __OFFLOAD_LACKING(surf3Dread) __OFFLOAD_LACKING(surf3Dwrite)
__OFFLOAD_LACKING(surf1DLayeredread) __OFFLOAD_LACKING(surf1DLayeredwrite)
__OFFLOAD_LACKING(surf2DLayeredread) __OFFLOAD_LACKING(surf2DLayeredwrite)
#undef __OFFLOAD_LACKING
