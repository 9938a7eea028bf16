// clang's mathematics for HIP. Its own functions of these names may be part of a fused operation, or are not rounded to the
// nearest, or do not end as PTX has it.
#define __OFFLOAD_REPLACED(NAME) __offload_hip_##NAME
#define __fadd_rn __OFFLOAD_REPLACED(fadd_rn)
#define __fsub_rn __OFFLOAD_REPLACED(fsub_rn)
#define __fmul_rn __OFFLOAD_REPLACED(fmul_rn)
#define __fsqrt_rn __OFFLOAD_REPLACED(fsqrt_rn)
#define __dadd_rn __OFFLOAD_REPLACED(dadd_rn)
#define __dsub_rn __OFFLOAD_REPLACED(dsub_rn)
#define __dmul_rn __OFFLOAD_REPLACED(dmul_rn)
#define __dsqrt_rn __OFFLOAD_REPLACED(dsqrt_rn)
#define __saturatef __OFFLOAD_REPLACED(saturatef)
#define llrintf __OFFLOAD_REPLACED(llrintf)
#define llroundf __OFFLOAD_REPLACED(llroundf)
#define lrintf __OFFLOAD_REPLACED(lrintf)
#define lroundf __OFFLOAD_REPLACED(lroundf)
#define llrint __OFFLOAD_REPLACED(llrint)
#define llround __OFFLOAD_REPLACED(llround)
#define lrint __OFFLOAD_REPLACED(lrint)
#define lround __OFFLOAD_REPLACED(lround)
#define logbf __OFFLOAD_REPLACED(logbf)
#define logb __OFFLOAD_REPLACED(logb)
#define __HIP_NO_HOST_MIN_MAX_IN_GLOBAL_NAMESPACE__ 1
#include <__clang_hip_libdevice_declares.h>
#include <__clang_hip_math.h>
#undef __fadd_rn
#undef __fsub_rn
#undef __fmul_rn
#undef __fsqrt_rn
#undef __dadd_rn
#undef __dsub_rn
#undef __dmul_rn
#undef __dsqrt_rn
#undef __saturatef
#undef llrintf
#undef llroundf
#undef lrintf
#undef lroundf
#undef llrint
#undef llround
#undef lrint
#undef lround
#undef logbf
#undef logb
#undef __OFFLOAD_REPLACED
// By the exponent as a whole number; clang's are calls of a C library.
__OFFLOAD_FN float logbf(float x) {
  if (x == 0) return -__builtin_inff();
  return __builtin_isfinite(x) ? (float)ilogbf(x) : x * x;
}
__OFFLOAD_FN double logb(double x) {
  if (x == 0) return -__builtin_inf();
  return __builtin_isfinite(x) ? (double)ilogb(x) : x * x;
}
// The CPU has defined these.
#undef __builtin_expf
#undef __builtin_exp2f
#undef __builtin_exp10f
#undef __builtin_logf
#undef __builtin_log2f
#undef __builtin_log10f
#undef __builtin_ldexpf
#undef __builtin_ldexp

// The sources are CUDA C++.
#undef __HIP__
#undef __HIPCC__
#undef __HIP_DEVICE_COMPILE__
#undef __CUDA__
#define __CUDA__ 1
