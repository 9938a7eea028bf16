// The layer of the CPU for textures and surfaces: functions of host_textures.c. There are no mipmaps, so that a level and
// gradients choose nothing.
#define __OFFLOAD_LIST(...) __VA_ARGS__
#define __OFFLOAD_TEXTURE_OF(V, TYPE, SUFFIX) \
  typedef TYPE __offload_color_##SUFFIX __attribute__((ext_vector_type(4))); \
  extern "C" __device__ __offload_color_##SUFFIX __offload_texture_read_##SUFFIX(cudaTextureObject_t, float, float, float, int, \
                                                                            int); \
  extern "C" __device__ __offload_color_##SUFFIX __offload_texture_fetch_##SUFFIX(cudaTextureObject_t, int); \
  extern "C" __device__ __offload_color_##SUFFIX __offload_texture_gather_##SUFFIX(cudaTextureObject_t, float, float, int); \
  static __device__ __forceinline__ void __offload_texture_read(V &v, cudaTextureObject_t t, float x, float y, float z, \
                                                                int layer, int kind) { \
    __offload_color_##SUFFIX c = __offload_texture_read_##SUFFIX(t, x, y, z, layer, kind); \
    v = V{c.x, c.y, c.z, c.w}; \
  } \
  static __device__ __forceinline__ void __offload_tex1Dfetch(V &v, cudaTextureObject_t t, int x) { \
    __offload_color_##SUFFIX c = __offload_texture_fetch_##SUFFIX(t, x); \
    v = V{c.x, c.y, c.z, c.w}; \
  } \
  static __device__ __forceinline__ void __offload_tex2Dgather(V &v, cudaTextureObject_t t, float x, float y, \
                                                               int component) { \
    __offload_color_##SUFFIX c = __offload_texture_gather_##SUFFIX(t, x, y, component); \
    v = V{c.x, c.y, c.z, c.w}; \
  }
__OFFLOAD_TEXTURE_OF(float4, float, f)
__OFFLOAD_TEXTURE_OF(int4, int, i)
__OFFLOAD_TEXTURE_OF(uint4, unsigned int, u)
#undef __OFFLOAD_TEXTURE_OF
// The numbers that end a call: the layer, and the dimensions with those of the object: 4 for layers, 8 for faces of a cube.
#define __OFFLOAD_TEXTURE(NAME, PARAMETERS, ...) \
  template <typename V> \
  static __device__ __forceinline__ void __offload_##NAME(V &v, cudaTextureObject_t t, __OFFLOAD_LIST PARAMETERS) { \
    __offload_texture_read(v, t, __VA_ARGS__); \
  }
__OFFLOAD_TEXTURE(tex1D, (float x), x, 0, 0, 0, 1)
__OFFLOAD_TEXTURE(tex1DLod, (float x, float), x, 0, 0, 0, 1)
__OFFLOAD_TEXTURE(tex1DGrad, (float x, float, float), x, 0, 0, 0, 1)
__OFFLOAD_TEXTURE(tex2D, (float x, float y), x, y, 0, 0, 2)
__OFFLOAD_TEXTURE(tex2DLod, (float x, float y, float), x, y, 0, 0, 2)
__OFFLOAD_TEXTURE(tex2DGrad, (float x, float y, float2, float2), x, y, 0, 0, 2)
__OFFLOAD_TEXTURE(tex3D, (float x, float y, float z), x, y, z, 0, 3)
__OFFLOAD_TEXTURE(tex3DLod, (float x, float y, float z, float), x, y, z, 0, 3)
__OFFLOAD_TEXTURE(tex3DGrad, (float x, float y, float z, float4, float4), x, y, z, 0, 3)
__OFFLOAD_TEXTURE(tex1DLayered, (float x, int layer), x, 0, 0, layer, 1 | 4)
__OFFLOAD_TEXTURE(tex1DLayeredLod, (float x, int layer, float), x, 0, 0, layer, 1 | 4)
__OFFLOAD_TEXTURE(tex1DLayeredGrad, (float x, int layer, float, float), x, 0, 0, layer, 1 | 4)
__OFFLOAD_TEXTURE(tex2DLayered, (float x, float y, int layer), x, y, 0, layer, 2 | 4)
__OFFLOAD_TEXTURE(tex2DLayeredLod, (float x, float y, int layer, float), x, y, 0, layer, 2 | 4)
__OFFLOAD_TEXTURE(tex2DLayeredGrad, (float x, float y, int layer, float2, float2), x, y, 0, layer, 2 | 4)
__OFFLOAD_TEXTURE(texCubemap, (float x, float y, float z), x, y, z, 0, 2 | 8)
__OFFLOAD_TEXTURE(texCubemapLod, (float x, float y, float z, float), x, y, z, 0, 2 | 8)
__OFFLOAD_TEXTURE(texCubemapLayered, (float x, float y, float z, int layer), x, y, z, layer, 2 | 4 | 8)
__OFFLOAD_TEXTURE(texCubemapLayeredLod, (float x, float y, float z, int layer, float), x, y, z, layer, 2 | 4 | 8)
#undef __OFFLOAD_TEXTURE

extern "C" __device__ __offload_color_u __offload_surface_read(cudaSurfaceObject_t, int, int, int, unsigned int size,
                                                         unsigned int mode);
extern "C" __device__ void __offload_surface_write(cudaSurfaceObject_t, int, int, int, unsigned int size, unsigned int mode,
                                                  __offload_color_u);
#define __OFFLOAD_SURFACE(NAME, PARAMETERS, ...) \
  template <typename W> \
  static __device__ __forceinline__ void __offload_##NAME##read(W &word, cudaSurfaceObject_t s, __OFFLOAD_LIST PARAMETERS, \
                                                                cudaSurfaceBoundaryMode mode) { \
    __offload_color_u read = __offload_surface_read(s, __VA_ARGS__, sizeof(W), mode); \
    __builtin_memcpy(&word, &read, sizeof(W)); \
  } \
  template <typename W> \
  static __device__ __forceinline__ void __offload_##NAME##write(W word, cudaSurfaceObject_t s, __OFFLOAD_LIST PARAMETERS, \
                                                                 cudaSurfaceBoundaryMode mode) { \
    __offload_color_u written = 0; \
    __builtin_memcpy(&written, &word, sizeof(W)); \
    __offload_surface_write(s, __VA_ARGS__, sizeof(W), mode, written); \
  }
__OFFLOAD_SURFACE(surf1D, (int x), x, 0, 0)
__OFFLOAD_SURFACE(surf2D, (int x, int y), x, y, 0)
__OFFLOAD_SURFACE(surf3D, (int x, int y, int z), x, y, z)
__OFFLOAD_SURFACE(surf1DLayered, (int x, int layer), x, layer, 0)
__OFFLOAD_SURFACE(surf2DLayered, (int x, int y, int layer), x, y, layer)
#undef __OFFLOAD_SURFACE
