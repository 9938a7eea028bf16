// What kernels read textures with, and read and write surfaces: functions of the layer below, by the types of values.
// https://docs.nvidia.com/cuda/cuda-c-programming-guide/#texture-functions

// A value of T of the four channels that an instruction reads.
template <typename T> struct __offload_texel;
#define __OFFLOAD_TEXEL(T, FOUR, ...) \
  template <> struct __offload_texel<T> { \
    typedef FOUR four; \
    static __device__ __forceinline__ T from(FOUR v) { return __VA_ARGS__; } \
  };
#define __OFFLOAD_TEXELS(S, NAME, FOUR) \
  __OFFLOAD_TEXEL(S, FOUR, (S)v.x) \
  __OFFLOAD_TEXEL(NAME##1, FOUR, NAME##1{(S)v.x}) \
  __OFFLOAD_TEXEL(NAME##2, FOUR, NAME##2{(S)v.x, (S)v.y}) \
  __OFFLOAD_TEXEL(NAME##4, FOUR, NAME##4{(S)v.x, (S)v.y, (S)v.z, (S)v.w})
__OFFLOAD_TEXELS(signed char, char, int4)
__OFFLOAD_TEXELS(unsigned char, uchar, uint4)
__OFFLOAD_TEXELS(short, short, int4)
__OFFLOAD_TEXELS(unsigned short, ushort, uint4)
__OFFLOAD_TEXELS(int, int, int4)
__OFFLOAD_TEXELS(unsigned int, uint, uint4)
__OFFLOAD_TEXELS(float, float, float4)
__OFFLOAD_TEXEL(char, int4, (char)v.x)
#undef __OFFLOAD_TEXELS
#undef __OFFLOAD_TEXEL

#define __OFFLOAD_READ(NAME, PARAMETERS, ...) \
  template <typename T> static __device__ __forceinline__ T NAME(cudaTextureObject_t t, __OFFLOAD_LIST PARAMETERS) { \
    typename __offload_texel<T>::four v; \
    __offload_##NAME(v, t, __VA_ARGS__); \
    return __offload_texel<T>::from(v); \
  } \
  template <typename T> \
  static __device__ __forceinline__ void NAME(T *to, cudaTextureObject_t t, __OFFLOAD_LIST PARAMETERS) { \
    *to = NAME<T>(t, __VA_ARGS__); \
  }
__OFFLOAD_READ(tex1Dfetch, (int x), x)
__OFFLOAD_READ(tex1D, (float x), x)
__OFFLOAD_READ(tex1DLod, (float x, float level), x, level)
__OFFLOAD_READ(tex1DGrad, (float x, float dx, float dy), x, dx, dy)
__OFFLOAD_READ(tex2D, (float x, float y), x, y)
__OFFLOAD_READ(tex2DLod, (float x, float y, float level), x, y, level)
__OFFLOAD_READ(tex2DGrad, (float x, float y, float2 dx, float2 dy), x, y, dx, dy)
__OFFLOAD_READ(tex2Dgather, (float x, float y, int component = 0), x, y, component)
__OFFLOAD_READ(tex3D, (float x, float y, float z), x, y, z)
__OFFLOAD_READ(tex3DLod, (float x, float y, float z, float level), x, y, z, level)
__OFFLOAD_READ(tex3DGrad, (float x, float y, float z, float4 dx, float4 dy), x, y, z, dx, dy)
__OFFLOAD_READ(tex1DLayered, (float x, int layer), x, layer)
__OFFLOAD_READ(tex1DLayeredLod, (float x, int layer, float level), x, layer, level)
__OFFLOAD_READ(tex1DLayeredGrad, (float x, int layer, float dx, float dy), x, layer, dx, dy)
__OFFLOAD_READ(tex2DLayered, (float x, float y, int layer), x, y, layer)
__OFFLOAD_READ(tex2DLayeredLod, (float x, float y, int layer, float level), x, y, layer, level)
__OFFLOAD_READ(tex2DLayeredGrad, (float x, float y, int layer, float2 dx, float2 dy), x, y, layer, dx, dy)
__OFFLOAD_READ(texCubemap, (float x, float y, float z), x, y, z)
__OFFLOAD_READ(texCubemapLod, (float x, float y, float z, float level), x, y, z, level)
__OFFLOAD_READ(texCubemapLayered, (float x, float y, float z, int layer), x, y, z, layer)
__OFFLOAD_READ(texCubemapLayeredLod, (float x, float y, float z, int layer, float level), x, y, z, layer, level)
#undef __OFFLOAD_READ

// Surfaces have bytes: `x` counts them, and a value is one word of its size.
template <size_t SIZE> struct __offload_surface_word;
template <> struct __offload_surface_word<1> { typedef unsigned char type; };
template <> struct __offload_surface_word<2> { typedef unsigned short type; };
template <> struct __offload_surface_word<4> { typedef unsigned int type; };
template <> struct __offload_surface_word<8> { typedef uint2 type; };
template <> struct __offload_surface_word<16> { typedef uint4 type; };
#define __OFFLOAD_SURFACE(NAME, BY, PARAMETERS, ...) \
  template <typename T> \
  static __device__ __forceinline__ T NAME##read(cudaSurfaceObject_t s, __OFFLOAD_LIST PARAMETERS, \
                                                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    typename __offload_surface_word<sizeof(T)>::type word; \
    __offload_##BY##read(word, s, __VA_ARGS__, mode); \
    return __builtin_bit_cast(T, word); \
  } \
  template <typename T> \
  static __device__ __forceinline__ void NAME##read(T *to, cudaSurfaceObject_t s, __OFFLOAD_LIST PARAMETERS, \
                                                    cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    *to = NAME##read<T>(s, __VA_ARGS__, mode); \
  } \
  template <typename T> \
  static __device__ __forceinline__ void NAME##write(T value, cudaSurfaceObject_t s, __OFFLOAD_LIST PARAMETERS, \
                                                     cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    typedef typename __offload_surface_word<sizeof(T)>::type word; \
    __offload_##BY##write(__builtin_bit_cast(word, value), s, __VA_ARGS__, mode); \
  }
__OFFLOAD_SURFACE(surf1D, surf1D, (int x), x)
__OFFLOAD_SURFACE(surf2D, surf2D, (int x, int y), x, y)
__OFFLOAD_SURFACE(surf3D, surf3D, (int x, int y, int z), x, y, z)
__OFFLOAD_SURFACE(surf1DLayered, surf1DLayered, (int x, int layer), x, layer)
__OFFLOAD_SURFACE(surf2DLayered, surf2DLayered, (int x, int y, int layer), x, y, layer)
// The faces of cube maps are layers.
__OFFLOAD_SURFACE(surfCubemap, surf2DLayered, (int x, int y, int face), x, y, face)
__OFFLOAD_SURFACE(surfCubemapLayered, surf2DLayered, (int x, int y, int layerFace), x, y, layerFace)
#undef __OFFLOAD_SURFACE
#undef __OFFLOAD_LIST
