// The layer of NVIDIA for textures and surfaces: instructions of PTX, which take the 64 bits of an object in the unified mode
// of textures. Of vectors of three coordinates the fourth is ignored.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#texture-instructions
#define __OFFLOAD_LIST(...) __VA_ARGS__
#define __OFFLOAD_TEXTURE_OF(V, TYPE, R, NAME, PARAMETERS, INSTRUCTION, COORDINATE, OPERANDS, ...) \
  static __device__ __forceinline__ void __offload_##NAME(V &v, cudaTextureObject_t t, __OFFLOAD_LIST PARAMETERS) { \
    asm(INSTRUCTION ".v4." TYPE "." COORDINATE " {%0, %1, %2, %3}, [%4, " OPERANDS ";" \
        : "=" R(v.x), "=" R(v.y), "=" R(v.z), "=" R(v.w) \
        : "l"(t), __VA_ARGS__); \
  }
#define __OFFLOAD_TEXTURE(...) \
  __OFFLOAD_TEXTURE_OF(float4, "f32", "f", __VA_ARGS__) \
  __OFFLOAD_TEXTURE_OF(int4, "s32", "r", __VA_ARGS__) \
  __OFFLOAD_TEXTURE_OF(uint4, "u32", "r", __VA_ARGS__)
__OFFLOAD_TEXTURE(tex1Dfetch, (int x), "tex.1d", "s32", "{%5}]", "r"(x))
__OFFLOAD_TEXTURE(tex1D, (float x), "tex.1d", "f32", "{%5}]", "f"(x))
__OFFLOAD_TEXTURE(tex1DLod, (float x, float level), "tex.level.1d", "f32", "{%5}], %6", "f"(x), "f"(level))
__OFFLOAD_TEXTURE(tex1DGrad, (float x, float dx, float dy), "tex.grad.1d", "f32", "{%5}], {%6}, {%7}", "f"(x), "f"(dx),
                  "f"(dy))
__OFFLOAD_TEXTURE(tex2D, (float x, float y), "tex.2d", "f32", "{%5, %6}]", "f"(x), "f"(y))
__OFFLOAD_TEXTURE(tex2DLod, (float x, float y, float level), "tex.level.2d", "f32", "{%5, %6}], %7", "f"(x), "f"(y),
                  "f"(level))
__OFFLOAD_TEXTURE(tex2DGrad, (float x, float y, float2 dx, float2 dy), "tex.grad.2d", "f32",
                  "{%5, %6}], {%7, %8}, {%9, %10}", "f"(x), "f"(y), "f"(dx.x), "f"(dx.y), "f"(dy.x), "f"(dy.y))
__OFFLOAD_TEXTURE(tex3D, (float x, float y, float z), "tex.3d", "f32", "{%5, %6, %7, %7}]", "f"(x), "f"(y), "f"(z))
__OFFLOAD_TEXTURE(tex3DLod, (float x, float y, float z, float level), "tex.level.3d", "f32", "{%5, %6, %7, %7}], %8",
                  "f"(x), "f"(y), "f"(z), "f"(level))
__OFFLOAD_TEXTURE(tex3DGrad, (float x, float y, float z, float4 dx, float4 dy), "tex.grad.3d", "f32",
                  "{%5, %6, %7, %7}], {%8, %9, %10, %10}, {%11, %12, %13, %13}", "f"(x), "f"(y), "f"(z), "f"(dx.x),
                  "f"(dx.y), "f"(dx.z), "f"(dy.x), "f"(dy.y), "f"(dy.z))
__OFFLOAD_TEXTURE(tex1DLayered, (float x, int layer), "tex.a1d", "f32", "{%5, %6}]", "r"(layer), "f"(x))
__OFFLOAD_TEXTURE(tex1DLayeredLod, (float x, int layer, float level), "tex.level.a1d", "f32", "{%5, %6}], %7",
                  "r"(layer), "f"(x), "f"(level))
__OFFLOAD_TEXTURE(tex1DLayeredGrad, (float x, int layer, float dx, float dy), "tex.grad.a1d", "f32",
                  "{%5, %6}], {%7}, {%8}", "r"(layer), "f"(x), "f"(dx), "f"(dy))
__OFFLOAD_TEXTURE(tex2DLayered, (float x, float y, int layer), "tex.a2d", "f32", "{%5, %6, %7, %7}]", "r"(layer),
                  "f"(x), "f"(y))
__OFFLOAD_TEXTURE(tex2DLayeredLod, (float x, float y, int layer, float level), "tex.level.a2d", "f32",
                  "{%5, %6, %7, %7}], %8", "r"(layer), "f"(x), "f"(y), "f"(level))
__OFFLOAD_TEXTURE(tex2DLayeredGrad, (float x, float y, int layer, float2 dx, float2 dy), "tex.grad.a2d", "f32",
                  "{%5, %6, %7, %7}], {%8, %9}, {%10, %11}", "r"(layer), "f"(x), "f"(y), "f"(dx.x), "f"(dx.y),
                  "f"(dy.x), "f"(dy.y))
__OFFLOAD_TEXTURE(texCubemap, (float x, float y, float z), "tex.cube", "f32", "{%5, %6, %7, %7}]", "f"(x), "f"(y),
                  "f"(z))
__OFFLOAD_TEXTURE(texCubemapLod, (float x, float y, float z, float level), "tex.level.cube", "f32",
                  "{%5, %6, %7, %7}], %8", "f"(x), "f"(y), "f"(z), "f"(level))
__OFFLOAD_TEXTURE(texCubemapLayered, (float x, float y, float z, int layer), "tex.acube", "f32", "{%5, %6, %7, %8}]",
                  "r"(layer), "f"(x), "f"(y), "f"(z))
__OFFLOAD_TEXTURE(texCubemapLayeredLod, (float x, float y, float z, int layer, float level), "tex.level.acube", "f32",
                  "{%5, %6, %7, %8}], %9", "r"(layer), "f"(x), "f"(y), "f"(z), "f"(level))
__OFFLOAD_TEXTURE(tex2Dgather_x, (float x, float y), "tld4.r.2d", "f32", "{%5, %6}]", "f"(x), "f"(y))
__OFFLOAD_TEXTURE(tex2Dgather_y, (float x, float y), "tld4.g.2d", "f32", "{%5, %6}]", "f"(x), "f"(y))
__OFFLOAD_TEXTURE(tex2Dgather_z, (float x, float y), "tld4.b.2d", "f32", "{%5, %6}]", "f"(x), "f"(y))
__OFFLOAD_TEXTURE(tex2Dgather_w, (float x, float y), "tld4.a.2d", "f32", "{%5, %6}]", "f"(x), "f"(y))
#undef __OFFLOAD_TEXTURE
#undef __OFFLOAD_TEXTURE_OF
template <typename V>
static __device__ __forceinline__ void __offload_tex2Dgather(V &v, cudaTextureObject_t t, float x, float y,
                                                             int component) {
  switch (component) {
  case 1: __offload_tex2Dgather_y(v, t, x, y); break;
  case 2: __offload_tex2Dgather_z(v, t, x, y); break;
  case 3: __offload_tex2Dgather_w(v, t, x, y); break;
  default: __offload_tex2Dgather_x(v, t, x, y);
  }
}

// Words as they are in memory; registers have at least 16 bits.
#define __OFFLOAD_SURFACE_MODE(GEOMETRY, TYPE, MODE, OPERANDS, VALUE, OUT, IN, ...) \
  if constexpr (is_read) \
    asm volatile("suld.b." GEOMETRY TYPE "." MODE " " VALUE ", [%[s], " OPERANDS "];" \
                 : __OFFLOAD_LIST OUT : [s] "l"(s), __VA_ARGS__ : "memory"); \
  else \
    asm volatile("sust.b." GEOMETRY TYPE "." MODE " [%[s], " OPERANDS "], " VALUE ";" \
                 :: [s] "l"(s), __VA_ARGS__, __OFFLOAD_LIST IN : "memory");
#define __OFFLOAD_SURFACE_WORD(WORD, TYPE, VALUE, OUT, IN, NAME, PARAMETERS, PASSED, GEOMETRY, OPERANDS, ...) \
  template <bool is_read> \
  static __device__ __forceinline__ void __offload_##NAME##access(WORD &v, cudaSurfaceObject_t s, \
                                                                  __OFFLOAD_LIST PARAMETERS, \
                                                                  cudaSurfaceBoundaryMode mode) { \
    if (mode == cudaBoundaryModeZero) { \
      __OFFLOAD_SURFACE_MODE(GEOMETRY, TYPE, "zero", OPERANDS, VALUE, OUT, IN, __VA_ARGS__) \
    } else if (mode == cudaBoundaryModeClamp) { \
      __OFFLOAD_SURFACE_MODE(GEOMETRY, TYPE, "clamp", OPERANDS, VALUE, OUT, IN, __VA_ARGS__) \
    } else { \
      __OFFLOAD_SURFACE_MODE(GEOMETRY, TYPE, "trap", OPERANDS, VALUE, OUT, IN, __VA_ARGS__) \
    } \
  } \
  static __device__ __forceinline__ void __offload_##NAME##read(WORD &v, cudaSurfaceObject_t s, __OFFLOAD_LIST PARAMETERS, \
                                           cudaSurfaceBoundaryMode mode) { \
    __offload_##NAME##access<true>(v, s, __OFFLOAD_LIST PASSED, mode); \
  } \
  static __device__ __forceinline__ void __offload_##NAME##write(WORD v, cudaSurfaceObject_t s, __OFFLOAD_LIST PARAMETERS, \
                                            cudaSurfaceBoundaryMode mode) { \
    __offload_##NAME##access<false>(v, s, __OFFLOAD_LIST PASSED, mode); \
  }
#define __OFFLOAD_SURFACE(...) \
  __OFFLOAD_SURFACE_WORD(unsigned char, ".b8", "%[a]", ([a] "=c"(v)), ([a] "c"(v)), __VA_ARGS__) \
  __OFFLOAD_SURFACE_WORD(unsigned short, ".b16", "%[a]", ([a] "=h"(v)), ([a] "h"(v)), __VA_ARGS__) \
  __OFFLOAD_SURFACE_WORD(unsigned int, ".b32", "%[a]", ([a] "=r"(v)), ([a] "r"(v)), __VA_ARGS__) \
  __OFFLOAD_SURFACE_WORD(uint2, ".v2.b32", "{%[a], %[b]}", ([a] "=r"(v.x), [b] "=r"(v.y)), \
                         ([a] "r"(v.x), [b] "r"(v.y)), __VA_ARGS__) \
  __OFFLOAD_SURFACE_WORD(uint4, ".v4.b32", "{%[a], %[b], %[c], %[d]}", \
                         ([a] "=r"(v.x), [b] "=r"(v.y), [c] "=r"(v.z), [d] "=r"(v.w)), \
                         ([a] "r"(v.x), [b] "r"(v.y), [c] "r"(v.z), [d] "r"(v.w)), __VA_ARGS__)
__OFFLOAD_SURFACE(surf1D, (int x), (x), "1d", "{%[x]}", [x] "r"(x))
__OFFLOAD_SURFACE(surf2D, (int x, int y), (x, y), "2d", "{%[x], %[y]}", [x] "r"(x), [y] "r"(y))
__OFFLOAD_SURFACE(surf3D, (int x, int y, int z), (x, y, z), "3d", "{%[x], %[y], %[z], %[z]}", [x] "r"(x), [y] "r"(y),
                  [z] "r"(z))
__OFFLOAD_SURFACE(surf1DLayered, (int x, int layer), (x, layer), "a1d", "{%[l], %[x]}", [x] "r"(x), [l] "r"(layer))
__OFFLOAD_SURFACE(surf2DLayered, (int x, int y, int layer), (x, y, layer), "a2d", "{%[l], %[x], %[y], %[y]}",
                  [x] "r"(x), [y] "r"(y), [l] "r"(layer))
#undef __OFFLOAD_SURFACE
#undef __OFFLOAD_SURFACE_WORD
#undef __OFFLOAD_SURFACE_MODE
