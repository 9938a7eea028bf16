// What LLVM's libclc lacks or gets wrong for NVIDIA GPUs.
// native_exp and its kin become calls that the back end has no code for; these are the hardware's own instructions
// (https://docs.nvidia.com/cuda/parallel-thread-execution/#floating-point-instructions-ex2). The rest does not exist.

#define OVERLOAD __attribute__((overloadable, const))

uint OVERLOAD get_work_dim(void) { return 3; }
size_t OVERLOAD get_global_offset(uint dimension) { return 0; }

float OVERLOAD native_exp2(float x) { return __nvvm_ex2_approx_f(x); }
float OVERLOAD native_exp(float x) { return __nvvm_ex2_approx_f(x * 0x1.715476p+0f); }
float OVERLOAD native_exp10(float x) { return __nvvm_ex2_approx_f(x * 0x1.a934f0p+1f); }
float OVERLOAD native_log2(float x) { return __nvvm_lg2_approx_f(x); }
float OVERLOAD native_log(float x) { return __nvvm_lg2_approx_f(x) * 0x1.62e430p-1f; }
float OVERLOAD native_log10(float x) { return __nvvm_lg2_approx_f(x) * 0x1.344136p-2f; }
float OVERLOAD native_powr(float x, float y) { return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x)); }

#define UNARY(NAME) \
  float2 OVERLOAD NAME(float2 x) { return (float2)(NAME(x.x), NAME(x.y)); } \
  float3 OVERLOAD NAME(float3 x) { return (float3)(NAME(x.xy), NAME(x.z)); } \
  float4 OVERLOAD NAME(float4 x) { return (float4)(NAME(x.lo), NAME(x.hi)); } \
  float8 OVERLOAD NAME(float8 x) { return (float8)(NAME(x.lo), NAME(x.hi)); } \
  float16 OVERLOAD NAME(float16 x) { return (float16)(NAME(x.lo), NAME(x.hi)); }

UNARY(native_exp2)
UNARY(native_exp)
UNARY(native_exp10)
UNARY(native_log2)
UNARY(native_log)
UNARY(native_log10)

float2 OVERLOAD native_powr(float2 x, float2 y) { return (float2)(native_powr(x.x, y.x), native_powr(x.y, y.y)); }
float3 OVERLOAD native_powr(float3 x, float3 y) { return (float3)(native_powr(x.xy, y.xy), native_powr(x.z, y.z)); }
float4 OVERLOAD native_powr(float4 x, float4 y) { return (float4)(native_powr(x.lo, y.lo), native_powr(x.hi, y.hi)); }
float8 OVERLOAD native_powr(float8 x, float8 y) { return (float8)(native_powr(x.lo, y.lo), native_powr(x.hi, y.hi)); }
float16 OVERLOAD native_powr(float16 x, float16 y) {
  return (float16)(native_powr(x.lo, y.lo), native_powr(x.hi, y.hi));
}

// libdevice answers 1 where libclc, which calls it for each element, wants all bits for vectors: isinf, fract, modf,
// log1p and others were wrong for infinities in vectors.
int __nv_isinff(float x) { return (as_uint(x) & 0x7fffffff) == 0x7f800000 ? -1 : 0; }
int __nv_isinfd(double x) { return (as_ulong(x) & 0x7fffffffffffffff) == 0x7ff0000000000000 ? -1 : 0; }
int OVERLOAD isinf(float x) { return __nv_isinff(x) != 0; }
int OVERLOAD isinf(double x) { return __nv_isinfd(x) != 0; }

// libclc's adds the exponents, and the sum may pass the largest integer. Here one multiplication rounds: the last.
double OVERLOAD ldexp(double x, int n) {
  n = n > 3000 ? 3000 : n < -3000 ? -3000 : n;
  for (int step = 0; step < 2; ++step) {
    if (n > 1023) { x *= 0x1p1023; n -= 1023; }
    // 53 bits above the least normal number: what is cut off there is cut off at the end.
    if (n < -1022) { x *= 0x1p-969; n += 969; }
  }
  n = n > 1023 ? 1023 : n < -1022 ? -1022 : n;
  return x * as_double((ulong)(n + 1023) << 52);
}
#define LDEXP(N) \
  double##N OVERLOAD ldexp(double##N x, int##N n) { return (double##N)(ldexp(x.lo, n.lo), ldexp(x.hi, n.hi)); } \
  double##N OVERLOAD ldexp(double##N x, int n) { return ldexp(x, (int##N)n); }
LDEXP(2)
double3 OVERLOAD ldexp(double3 x, int3 n) { return (double3)(ldexp(x.xy, n.xy), ldexp(x.z, n.z)); }
double3 OVERLOAD ldexp(double3 x, int n) { return ldexp(x, (int3)n); }
LDEXP(4)
LDEXP(8)
LDEXP(16)
