// What LLVM's libclc up to release 22 lacks or gets wrong for all processors.

#define OVERLOADED __attribute__((overloadable))

size_t OVERLOADED get_enqueued_local_size(uint dimension) { return get_local_size(dimension); }
size_t OVERLOADED get_local_linear_id(void) {
  return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
}
size_t OVERLOADED get_global_linear_id(void) {
  size_t row = (get_global_id(2) - get_global_offset(2)) * get_global_size(1) + get_global_id(1) - get_global_offset(1);
  return row * get_global_size(0) + get_global_id(0) - get_global_offset(0);
}

// Its own lets the sum of a product that fits and a third number pass the largest number.
long OVERLOADED mad_sat(long x, long y, long z) {
  ulong low = (ulong)x * (ulong)y, sum = low + (ulong)z;
  long high = mul_hi(x, y) + (z >> 63) + (sum < low);
  return high == (long)sum >> 63 ? (long)sum : high < 0 ? LONG_MIN : LONG_MAX;
}
long2 OVERLOADED mad_sat(long2 x, long2 y, long2 z) {
  return (long2)(mad_sat(x.x, y.x, z.x), mad_sat(x.y, y.y, z.y));
}
long3 OVERLOADED mad_sat(long3 x, long3 y, long3 z) {
  return (long3)(mad_sat(x.xy, y.xy, z.xy), mad_sat(x.z, y.z, z.z));
}
long4 OVERLOADED mad_sat(long4 x, long4 y, long4 z) {
  return (long4)(mad_sat(x.lo, y.lo, z.lo), mad_sat(x.hi, y.hi, z.hi));
}
long8 OVERLOADED mad_sat(long8 x, long8 y, long8 z) {
  return (long8)(mad_sat(x.lo, y.lo, z.lo), mad_sat(x.hi, y.hi, z.hi));
}
long16 OVERLOADED mad_sat(long16 x, long16 y, long16 z) {
  return (long16)(mad_sat(x.lo, y.lo, z.lo), mad_sat(x.hi, y.hi, z.hi));
}

// Its own takes results below twice the least normal number for zero.
float OVERLOADED rootn(float x, int n) {
  float root = exp2(log2((double)fabs(x)) / n);
  return n == 0 || (x < 0 && n % 2 == 0) ? NAN : n % 2 ? copysign(root, x) : root;
}
float2 OVERLOADED rootn(float2 x, int2 n) { return (float2)(rootn(x.x, n.x), rootn(x.y, n.y)); }
float3 OVERLOADED rootn(float3 x, int3 n) { return (float3)(rootn(x.xy, n.xy), rootn(x.z, n.z)); }
float4 OVERLOADED rootn(float4 x, int4 n) { return (float4)(rootn(x.lo, n.lo), rootn(x.hi, n.hi)); }
float8 OVERLOADED rootn(float8 x, int8 n) { return (float8)(rootn(x.lo, n.lo), rootn(x.hi, n.hi)); }
float16 OVERLOADED rootn(float16 x, int16 n) { return (float16)(rootn(x.lo, n.lo), rootn(x.hi, n.hi)); }

// Its own round numbers below the least half to zero in both directions. Rounded towards zero, a number that is on the
// wrong side has its right neighbour one step away from zero.
#define STORE_HALF(MODE, PASSES, TYPE, SPACE)                                                         \
  void OVERLOADED vstore_half_##MODE(TYPE x, size_t i, SPACE half *p) {                               \
    vstore_half_rtz(x, i, p);                                                                         \
    if (vload_half(i, p) PASSES x) ((SPACE ushort *)p)[i] += 1;                                       \
  }                                                                                                   \
  void OVERLOADED vstore_half2_##MODE(TYPE##2 x, size_t i, SPACE half *p) {                           \
    vstore_half_##MODE(x.x, i * 2, p);                                                                \
    vstore_half_##MODE(x.y, i * 2 + 1, p);                                                            \
  }                                                                                                   \
  void OVERLOADED vstore_half3_##MODE(TYPE##3 x, size_t i, SPACE half *p) {                           \
    vstore_half2_##MODE(x.xy, 0, p + i * 3);                                                          \
    vstore_half_##MODE(x.z, i * 3 + 2, p);                                                            \
  }                                                                                                   \
  void OVERLOADED vstorea_half3_##MODE(TYPE##3 x, size_t i, SPACE half *p) {                          \
    vstore_half3_##MODE(x, 0, p + i * 4);                                                             \
  }                                                                                                   \
  STORE_HALVES(MODE, TYPE, SPACE, 4, 2)                                                               \
  STORE_HALVES(MODE, TYPE, SPACE, 8, 4)                                                               \
  STORE_HALVES(MODE, TYPE, SPACE, 16, 8)                                                              \
  STORE_ALIGNED(MODE, TYPE, SPACE, 2)                                                                 \
  STORE_ALIGNED(MODE, TYPE, SPACE, 4)                                                                 \
  STORE_ALIGNED(MODE, TYPE, SPACE, 8)                                                                 \
  STORE_ALIGNED(MODE, TYPE, SPACE, 16)
#define STORE_HALVES(MODE, TYPE, SPACE, N, HALF)                                                      \
  void OVERLOADED vstore_half##N##_##MODE(TYPE##N x, size_t i, SPACE half *p) {                       \
    vstore_half##HALF##_##MODE(x.lo, i * 2, p);                                                       \
    vstore_half##HALF##_##MODE(x.hi, i * 2 + 1, p);                                                   \
  }
#define STORE_ALIGNED(MODE, TYPE, SPACE, N)                                                           \
  void OVERLOADED vstorea_half##N##_##MODE(TYPE##N x, size_t i, SPACE half *p) {                      \
    vstore_half##N##_##MODE(x, i, p);                                                                 \
  }
#define STORES(TYPE, SPACE) STORE_HALF(rtp, <, TYPE, SPACE) STORE_HALF(rtn, >, TYPE, SPACE)
STORES(float, __global) STORES(float, __local) STORES(float, __private)
STORES(double, __global) STORES(double, __local) STORES(double, __private)
