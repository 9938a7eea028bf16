// Random numbers for the host and for kernels: https://nvidia.github.io/cccl/thrust/api_docs/random_numbers.html
//
// Engines are those of C++ (https://en.cppreference.com/w/cpp/numeric/random), and give its numbers. Those that store many
// words (subtract with carry, discarded blocks) are left to NVIDIA's headers, as combinations are.
#pragma once
#include <offload_names_begin.h>
#if __has_include(<iosfwd>)
#include <iosfwd>
#endif
namespace thrust {
namespace random {
#define __OFFLOAD_FN __host__ __device__ __forceinline__
// A product of two numbers of 32 bits has 64.
template <typename T, T A, T C, T M> class linear_congruential_engine {
  T value;
  static __OFFLOAD_FN T next(T value, T a, T c) {
    unsigned long long v = (unsigned long long)a * value + c;
    return (T)(M == 0 ? v : v % M);
  }

public:
  using result_type = T;
  static constexpr T multiplier = A, increment = C, modulus = M;
  static constexpr T min = C == 0 ? 1 : 0, max = M - 1, default_seed = 1;
  explicit __OFFLOAD_FN linear_congruential_engine(T seed = default_seed) { this->seed(seed); }
  __OFFLOAD_FN void seed(T seed = default_seed) {
    T rest = M == 0 ? seed : seed % M;
    value = C == 0 && rest == 0 ? 1 : rest;
  }
  __OFFLOAD_FN T operator()() { return value = next(value, A, C); }
  // The steps are put together by squaring one.
  __OFFLOAD_FN void discard(unsigned long long count) {
    T a = A, c = C;
    for (; count > 0; count /= 2) {
      if (count % 2)
        value = next(value, a, c);
      c = next(c, a, c);
      a = next(a, a, 0);
    }
  }
  friend __OFFLOAD_FN bool operator==(const linear_congruential_engine &a, const linear_congruential_engine &b) {
    return a.value == b.value;
  }
  friend __OFFLOAD_FN bool operator!=(const linear_congruential_engine &a, const linear_congruential_engine &b) {
    return a.value != b.value;
  }
};
typedef linear_congruential_engine<unsigned int, 16807, 0, 2147483647> minstd_rand0;
typedef linear_congruential_engine<unsigned int, 48271, 0, 2147483647> minstd_rand;
typedef minstd_rand default_random_engine;

// From 0 on, and less than 1.
template <typename R, typename E> static __OFFLOAD_FN R __offload_unit(E &engine) {
  R range = (R)(E::max - E::min) + 1;
  R v = (R)(engine() - E::min) / range;
  return v < 1 ? v : (R)0;
}

template <typename R = double> class uniform_real_distribution {
  R from, to;

public:
  using result_type = R;
  explicit __OFFLOAD_FN uniform_real_distribution(R from = 0, R to = 1) : from(from), to(to) {}
  __OFFLOAD_FN void reset() {}
  template <typename E> __OFFLOAD_FN R operator()(E &engine) {
    R v = from + __offload_unit<R>(engine) * (to - from);
    return v < to ? v : from;
  }
  __OFFLOAD_FN R a() const { return from; }
  __OFFLOAD_FN R b() const { return to; }
  __OFFLOAD_FN R min() const { return from; }
  __OFFLOAD_FN R max() const { return to; }
};

// Both ends are among the results.
template <typename I = int> class uniform_int_distribution {
  I from, to;

public:
  using result_type = I;
  static constexpr I greatest = (I)-1 > 0 ? (I)-1 : (I)(((1ull << (8 * sizeof(I) - 2)) - 1) * 2 + 1);
  explicit __OFFLOAD_FN uniform_int_distribution(I from = 0, I to = greatest) : from(from), to(to) {}
  __OFFLOAD_FN void reset() {}
  template <typename E> __OFFLOAD_FN I operator()(E &engine) {
    double range = (double)to - (double)from + 1;
    long long step = (long long)(__offload_unit<double>(engine) * range);
    return (I)(from + (I)step);
  }
  __OFFLOAD_FN I a() const { return from; }
  __OFFLOAD_FN I b() const { return to; }
  __OFFLOAD_FN I min() const { return from; }
  __OFFLOAD_FN I max() const { return to; }
};

// Box and Muller's transform.
template <typename R = double> class normal_distribution {
  R center, deviation;

public:
  using result_type = R;
  explicit __OFFLOAD_FN normal_distribution(R mean = 0, R stddev = 1) : center(mean), deviation(stddev) {}
  __OFFLOAD_FN void reset() {}
  template <typename E> __OFFLOAD_FN R operator()(E &engine) {
    double first = 1 - __offload_unit<double>(engine), second = __offload_unit<double>(engine);
    return center + deviation * (R)(sqrt(-2 * log(first)) * cos(6.283185307179586 * second));
  }
  __OFFLOAD_FN R mean() const { return center; }
  __OFFLOAD_FN R stddev() const { return deviation; }
};
#undef __OFFLOAD_FN
}
using random::default_random_engine;
using random::linear_congruential_engine;
using random::minstd_rand;
using random::minstd_rand0;
using random::normal_distribution;
using random::uniform_int_distribution;
using random::uniform_real_distribution;
}
#include <offload_names_end.h>
