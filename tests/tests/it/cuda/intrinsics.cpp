// Intrinsics of the headers for CUDA C++ that are plain C++, on the CPU: what CUDA's documentation and that of PTX say.
#include <math.h>
#include <stdio.h>
#include <string.h>
#define __device__
#define __shared__
#define __forceinline__ inline __attribute__((always_inline))
#define __OFFLOAD_FN static __device__ __forceinline__
#define llrintf own_llrintf
#define llroundf own_llroundf
#define llrint own_llrint
#define llround own_llround
#define lrintf own_lrintf
#define lroundf own_lroundf
#define lrint own_lrint
#define lround own_lround
#define clock own_clock
#define memcpy own_memcpy
#define memset own_memset
static void __threadfence_system() {}
static long long clock64() { return 0; }
#include "intrinsics.h"
#include "words.h"

static int failures;
#define SAME(FOUND, EXPECTED) \
  do { \
    auto found = FOUND; \
    decltype(found) expected = (decltype(found))(EXPECTED); \
    if (__builtin_memcmp(&found, &expected, sizeof found) != 0) { \
      printf("%s is not %s\n", #FOUND, #EXPECTED); \
      failures++; \
    } \
  } while (0)

int main() {
  const float NOT = __builtin_nanf("");
  const unsigned int MOST = ~0u;
  const int LEAST_INT = -2147483647 - 1;
  const long long LEAST_LONG = -9223372036854775807ll - 1;
  // Out of range and NaN.
  SAME(__float2int_rz(3e9f), 2147483647);
  SAME(__float2int_rz(-3e9f), LEAST_INT);
  SAME(__float2int_rz(2147483520.0f), 2147483520);
  SAME(__float2int_rz(NOT), 0);
  SAME(__double2int_rz(NOT), LEAST_INT);
  SAME(__float2uint_rz(-1.0f), 0u);
  SAME(__float2uint_rz(INFINITY), MOST);
  SAME(__float2uint_rz(4294967040.0f), 4294967040u);
  SAME(__float2ll_rz(NOT), LEAST_LONG);
  SAME(__float2ll_rz(1e30f), 9223372036854775807ll);
  SAME(__double2ull_rz(2e19), ~0ull);
  SAME(__double2ull_rz(-1.0), 0ull);
  SAME(llroundf(2.5f), 3ll);
  SAME(llrintf(2.5f), 2ll);
  SAME(__saturatef(NOT), 0.0f);
  SAME(__saturatef(2.0f), 1.0f);
  // Directions.
  SAME(__float2int_rn(2.5f), 2);
  SAME(__float2int_ru(2.1f), 3);
  SAME(__float2int_rd(-2.1f), -3);
  SAME(__int2float_rn(16777217), 16777216.0f);
  SAME(__int2float_ru(16777217), 16777218.0f);
  SAME(__int2float_rd(-16777217), -16777218.0f);
  SAME(__int2float_rz(-16777217), -16777216.0f);
  SAME(__int2float_rz(2147483647), 2147483520.0f);
  SAME(__uint2float_rz(MOST), 4294967040.0f);
  SAME(__uint2float_ru(MOST), 4294967296.0f);
  SAME(__ll2float_rd(9223372036854775807ll), 9223371487098961920.0f);
  SAME(__ll2double_rz(9007199254740993ll), 9007199254740992.0);
  SAME(__ull2double_ru(9007199254740993ull), 9007199254740994.0);
  SAME(__double2float_rz(1e300), 3.40282347e38f);
  SAME(__double2float_ru(1e300), INFINITY);
  SAME(__double2float_ru(1e-300), 1.40129846e-45f);
  SAME(__double2float_rd(1e-300), 0.0f);
  SAME(__double2float_rd(-1e-300), -1.40129846e-45f);
  SAME(__offload_half_towards_zero(65520.0f), 0x7bff);
  SAME(__offload_half_towards_zero(-1.0009f), 0xbc00);
  SAME(__offload_half_towards_zero(INFINITY), 0x7c00);
  // Integers.
  SAME(__clz(0), 32);
  SAME(__clzll(1), 63);
  SAME(__ffs(0), 0);
  SAME(__brev(1), 0x80000000u);
  SAME(__mulhi(LEAST_INT, 2), -1);
  SAME(__umulhi(MOST, MOST), MOST - 1);
  SAME(__mul24(0xffffff, 5), -5);
  SAME(__mul64hi(LEAST_LONG, 2), -1ll);
  SAME(__hadd(-3, 0), -2);
  SAME(__rhadd(-3, 0), -1);
  SAME(__sad(LEAST_INT, 2147483647, 1), 0u);
  SAME(__byte_perm(0x03020100, 0x07060504, 0x7531), 0x07050301u);
  SAME(__byte_perm(0x80, 0, 0x8880), 0xffffff80u);
  SAME(__funnelshift_l(0x80000000u, 1, 1), 3u);
  SAME(__funnelshift_l(5, 7, 32), 7u);
  SAME(__funnelshift_lc(5, 7, 32), 5u);
  SAME(__funnelshift_rc(5, 7, 40), 7u);
  // Parts of words.
  SAME(__vadd4(0xff010203, 0x01010101), 0x00020304u);
  SAME(__vaddss4(0x7f80, 0x01ff), 0x7f80u);
  SAME(__vaddus2(0xffff0001, 0x00010001), 0xffff0002u);
  SAME(__vsubus4(0x01, 0x02), 0u);
  SAME(__vcmpeq4(0x01020304, 0x01000304), 0xff00ffffu);
  SAME(__vsetgtu4(0x01020304, 0x02010304), 0x00010000u);
  SAME(__vcmplts2(0xffff0001, 0x00000000), 0xffff0000u);
  SAME(__vabsdiffs4(0x80, 0x7f), 0xffu);
  SAME(__vavgu4(0x03, 0x04), 0x04u);
  SAME(__vhaddu4(0xff, 0xff), 0xffu);
  SAME(__vabsss2(0x8000ffff), 0x7fff0001u);
  SAME(__vabs2(0x8000ffff), 0x80000001u);
  SAME(__vnegss4(0x80), 0x7fu);
  SAME(__vsadu4(0x01020304, 0), 10u);
  SAME(__vsads2(0xffff0003, 0x00010000), 5u);
  SAME(__dp4a(0x01ff0203, 0x02030405, 10), 10 + 2 - 3 + 8 + 15);
  SAME(__dp4a(0xffffffffu, 0xffffffffu, 1u), 1u + 4 * 255 * 255);
  SAME(__dp2a_lo((int)0xffff0002, 0x01020304, 0), 2 * 4 - 3);
  SAME(__dp2a_hi((int)0xffff0002, 0x01020304, 0), 2 * 2 - 1);
  return failures != 0;
}
