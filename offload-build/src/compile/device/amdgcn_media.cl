// The functions of cl_amd_media_ops and cl_amd_media_ops2, which sources for AMD GPUs call and libclc lacks
// (https://registry.khronos.org/OpenCL/extensions/amd/cl_amd_media_ops.txt and cl_amd_media_ops2.txt).

#define MEDIA __attribute__((overloadable, const))

uint MEDIA amd_bitalign(uint a, uint b, uint c) { return upsample(a, b) >> (c & 31); }
uint MEDIA amd_bytealign(uint a, uint b, uint c) { return upsample(a, b) >> ((c & 3) * 8); }
static uint byte_of(uint x, uint n) { return (x >> (n * 8)) & 255; }
float MEDIA amd_unpack0(uint x) { return byte_of(x, 0); }
float MEDIA amd_unpack1(uint x) { return byte_of(x, 1); }
float MEDIA amd_unpack2(uint x) { return byte_of(x, 2); }
float MEDIA amd_unpack3(uint x) { return byte_of(x, 3); }
uint MEDIA amd_pack(float4 x) { return as_uint(convert_uchar4_sat_rte(x)); }
uint MEDIA amd_lerp(uint a, uint b, uint c) {
  uint result = 0;
  for (uint n = 0; n < 4; ++n) result |= ((byte_of(a, n) + byte_of(b, n) + (byte_of(c, n) & 1)) >> 1) << (n * 8);
  return result;
}
uint MEDIA amd_sad(uint a, uint b, uint c) {
  for (uint n = 0; n < 4; ++n) c += abs_diff(byte_of(a, n), byte_of(b, n));
  return c;
}
uint MEDIA amd_sadhi(uint a, uint b, uint c) { return (amd_sad(a, b, 0) << 16) + c; }
uint MEDIA amd_msad(uint a, uint b, uint c) {
  for (uint n = 0; n < 4; ++n) c += byte_of(b, n) ? abs_diff(byte_of(a, n), byte_of(b, n)) : 0;
  return c;
}
uint MEDIA amd_sadw(uint a, uint b, uint c) {
  return abs_diff(a & 0xffff, b & 0xffff) + abs_diff(a >> 16, b >> 16) + c;
}
uint MEDIA amd_sadd(uint a, uint b, uint c) { return abs_diff(a, b) + c; }
uint MEDIA amd_bfm(uint width, uint offset) { return ((1u << (width & 31)) - 1) << (offset & 31); }
uint MEDIA amd_bfe(uint x, uint offset, uint width) {
  offset &= 31, width &= 31;
  return width == 0 ? 0 : offset + width < 32 ? (x << (32 - offset - width)) >> (32 - width) : x >> offset;
}
int MEDIA amd_bfe(int x, uint offset, uint width) {
  offset &= 31, width &= 31;
  return width == 0 ? 0 : offset + width < 32 ? (x << (32 - offset - width)) >> (32 - width) : x >> offset;
}
#define OF_THREE(T)                                                                 \
  T MEDIA amd_min3(T a, T b, T c) { return min(min(a, b), c); }                     \
  T MEDIA amd_max3(T a, T b, T c) { return max(max(a, b), c); }                     \
  T MEDIA amd_median3(T a, T b, T c) { return max(min(a, b), min(max(a, b), c)); }
OF_THREE(int) OF_THREE(uint) OF_THREE(float)
static ulong quad(ulong a, uint b, ulong c, bool masked) {
  ulong result = 0;
  for (uint n = 0; n < 4; ++n) {
    uint part = a >> (n * 8), sum = (c >> (n * 16)) & 0xffff;
    result |= (ulong)((masked ? amd_msad(part, b, sum) : amd_sad(part, b, sum)) & 0xffff) << (n * 16);
  }
  return result;
}
ulong MEDIA amd_qsad(ulong a, uint b, ulong c) { return quad(a, b, c, false); }
ulong MEDIA amd_mqsad(ulong a, uint b, ulong c) { return quad(a, b, c, true); }

#define MEDIA_3(NAME, R, T, U, N, H)                                                                                \
  R##N MEDIA NAME(T##N a, U##N b, T##N c) { return (R##N)(NAME(a.lo, b.lo, c.lo), NAME(a.hi, b.hi, c.hi)); }
#define MEDIA_3S(NAME, R, T, U)                                                                                     \
  MEDIA_3(NAME, R, T, U, 2, ) R##3 MEDIA NAME(T##3 a, U##3 b, T##3 c) {                                             \
    return (R##3)(NAME(a.xy, b.xy, c.xy), NAME(a.z, b.z, c.z));                                                     \
  }                                                                                                                 \
  MEDIA_3(NAME, R, T, U, 4, 2) MEDIA_3(NAME, R, T, U, 8, 4) MEDIA_3(NAME, R, T, U, 16, 8)
MEDIA_3S(amd_bitalign, uint, uint, uint) MEDIA_3S(amd_bytealign, uint, uint, uint) MEDIA_3S(amd_lerp, uint, uint, uint)
MEDIA_3S(amd_sad, uint, uint, uint) MEDIA_3S(amd_sadhi, uint, uint, uint) MEDIA_3S(amd_msad, uint, uint, uint)
MEDIA_3S(amd_sadw, uint, uint, uint) MEDIA_3S(amd_sadd, uint, uint, uint) MEDIA_3S(amd_bfe, uint, uint, uint)
MEDIA_3S(amd_min3, int, int, int) MEDIA_3S(amd_min3, uint, uint, uint) MEDIA_3S(amd_min3, float, float, float)
MEDIA_3S(amd_max3, int, int, int) MEDIA_3S(amd_max3, uint, uint, uint) MEDIA_3S(amd_max3, float, float, float)
MEDIA_3S(amd_median3, int, int, int) MEDIA_3S(amd_median3, uint, uint, uint)
MEDIA_3S(amd_median3, float, float, float)
MEDIA_3S(amd_qsad, ulong, ulong, uint) MEDIA_3S(amd_mqsad, ulong, ulong, uint)
#define MEDIA_1(NAME, N) \
  float##N MEDIA NAME(uint##N x) { return (float##N)(NAME(x.lo), NAME(x.hi)); }
#define MEDIA_1S(NAME)                                                                                              \
  MEDIA_1(NAME, 2) float3 MEDIA NAME(uint3 x) { return (float3)(NAME(x.xy), NAME(x.z)); }                           \
  MEDIA_1(NAME, 4) MEDIA_1(NAME, 8) MEDIA_1(NAME, 16)
MEDIA_1S(amd_unpack0) MEDIA_1S(amd_unpack1) MEDIA_1S(amd_unpack2) MEDIA_1S(amd_unpack3)
int2 MEDIA amd_bfe(int2 x, uint2 o, uint2 w) { return (int2)(amd_bfe(x.x, o.x, w.x), amd_bfe(x.y, o.y, w.y)); }
int4 MEDIA amd_bfe(int4 x, uint4 o, uint4 w) { return (int4)(amd_bfe(x.lo, o.lo, w.lo), amd_bfe(x.hi, o.hi, w.hi)); }
