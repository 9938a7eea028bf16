// Arithmetic with a direction, as the headers for CUDA C++ have it where there is no instruction, beside that of the CPU.
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#define __device__
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
#define memcpy own_memcpy
#define memset own_memset
#include "intrinsics.h"
#include "rounding.h"
#undef memcpy

static std::mt19937_64 words(7);
static int failures;

// Ends of the range, numbers of a similar size, and any bits.
template <typename F, typename Bits> static F number() {
  typedef std::numeric_limits<F> Limits;
  static const F ENDS[] = {0, -(F)0, 1, -1, Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), Limits::max(),
                           -Limits::max(), Limits::denorm_min(), -Limits::denorm_min(), Limits::min(), 3, (F)0.1};
  uint64_t kind = words() % 8;
  if (kind == 0) return ENDS[words() % 14];
  if (kind < 4) return (F)((double)(int64_t)words() / (double)(1ll << (20 + words() % 40)));
  Bits bits = (Bits)words();
  F v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}

template <typename F> static void check(const char *name, F a, F b, F c, F found, F expected) {
  bool is_same = (found != found && expected != expected) || std::memcmp(&found, &expected, sizeof(F)) == 0;
  if (is_same) return;
  failures++;
  std::printf("%s of %a, %a, %a is %a and not %a\n", name, (double)a, (double)b, (double)c, (double)found, (double)expected);
}

#define CPU(EXPRESSION) \
  ({ \
    std::fesetround(MODE); \
    volatile auto directed = EXPRESSION; \
    std::fesetround(FE_TONEAREST); \
    auto result = directed; \
    result; \
  })
#define CHECK(F, FUNCTION, ARGUMENTS, EXPRESSION) check<F>(#FUNCTION, a, b, c, FUNCTION ARGUMENTS, CPU(EXPRESSION))
#define CHECK_ALL(END) \
  for (int i = 0; i < 100000; i++) { \
    { \
      float a = number<float, uint32_t>(), b = number<float, uint32_t>(), c = number<float, uint32_t>(); \
      if (i % 4 == 0) c = -a * b; \
      if (i % 8 == 1) b = -a; \
      volatile float x = a, y = b, z = c; \
      CHECK(float, __fadd##END, (a, b), x + y); \
      CHECK(float, __fsub##END, (a, b), x - y); \
      CHECK(float, __fmul##END, (a, b), x * y); \
      CHECK(float, __fdiv##END, (a, b), x / y); \
      CHECK(float, __frcp##END, (a), 1 / x); \
      CHECK(float, __fsqrt##END, (a), std::sqrt(x)); \
      CHECK(float, __fmaf##END, (a, b, c), std::fma(x, y, z)); \
    } \
    { \
      double a = number<double, uint64_t>(), b = number<double, uint64_t>(), c = number<double, uint64_t>(); \
      if (i % 4 == 0) c = -a * b; \
      if (i % 8 == 0) c = std::nextafter(c, 0.0); \
      if (i % 8 == 1) b = -a; \
      volatile double x = a, y = b, z = c; \
      CHECK(double, __dadd##END, (a, b), x + y); \
      CHECK(double, __dsub##END, (a, b), x - y); \
      CHECK(double, __dmul##END, (a, b), x * y); \
      CHECK(double, __ddiv##END, (a, b), x / y); \
      CHECK(double, __drcp##END, (a), 1 / x); \
      CHECK(double, __dsqrt##END, (a), std::sqrt(x)); \
      CHECK(double, __fma##END, (a, b, c), std::fma(x, y, z)); \
    } \
  }

template <int MODE> static void check_mode() {
  if (MODE == FE_TOWARDZERO) CHECK_ALL(_rz)
  if (MODE == FE_DOWNWARD) CHECK_ALL(_rd)
  if (MODE == FE_UPWARD) CHECK_ALL(_ru)
}

int main() {
  check_mode<FE_TOWARDZERO>();
  check_mode<FE_DOWNWARD>();
  check_mode<FE_UPWARD>();
  return failures != 0;
}
