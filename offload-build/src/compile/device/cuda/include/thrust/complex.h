// Complex numbers for kernels and host code: https://nvidia.github.io/cccl/thrust/api/groups/group__complex__numbers.html
#pragma once
#include <offload_names_begin.h>
#include <complex>
namespace thrust {
#define __OFFLOAD_FN __host__ __device__ __forceinline__
template <typename T> struct complex {
  typedef T value_type;
  T re, im;
  complex() = default;
  __OFFLOAD_FN complex(const T &re) : re(re), im() {}
  __OFFLOAD_FN complex(const T &re, const T &im) : re(re), im(im) {}
  template <typename U> __OFFLOAD_FN complex(const complex<U> &other) : re((T)other.re), im((T)other.im) {}
  __host__ complex(const std::complex<T> &other) : re(other.real()), im(other.imag()) {}
  __host__ operator std::complex<T>() const { return {re, im}; }
  __OFFLOAD_FN T real() const { return re; }
  __OFFLOAD_FN T imag() const { return im; }
  __OFFLOAD_FN void real(T v) { re = v; }
  __OFFLOAD_FN void imag(T v) { im = v; }
#define __OFFLOAD_ASSIGN(OPERATOR) \
  template <typename U> __OFFLOAD_FN complex &operator OPERATOR##=(const U &other) { return *this = *this OPERATOR other; }
  __OFFLOAD_ASSIGN(+) __OFFLOAD_ASSIGN(-) __OFFLOAD_ASSIGN(*) __OFFLOAD_ASSIGN(/)
#undef __OFFLOAD_ASSIGN
};
template <typename T> __OFFLOAD_FN complex<T> operator+(const complex<T> &a, const complex<T> &b) {
  return {a.re + b.re, a.im + b.im};
}
template <typename T> __OFFLOAD_FN complex<T> operator-(const complex<T> &a, const complex<T> &b) {
  return {a.re - b.re, a.im - b.im};
}
template <typename T> __OFFLOAD_FN complex<T> operator*(const complex<T> &a, const complex<T> &b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
// Scaled, so that squares neither overflow nor vanish.
template <typename T> __OFFLOAD_FN complex<T> operator/(const complex<T> &a, const complex<T> &b) {
  T scale = (b.re < 0 ? -b.re : b.re) + (b.im < 0 ? -b.im : b.im);
  T b_re = b.re / scale, b_im = b.im / scale, a_re = a.re / scale, a_im = a.im / scale;
  T square = b_re * b_re + b_im * b_im;
  return {(a_re * b_re + a_im * b_im) / square, (a_im * b_re - a_re * b_im) / square};
}
#define __OFFLOAD_MIXED(OPERATOR) \
  template <typename T> __OFFLOAD_FN complex<T> operator OPERATOR(const complex<T> &a, const T &b) { \
    return a OPERATOR complex<T>(b); \
  } \
  template <typename T> __OFFLOAD_FN complex<T> operator OPERATOR(const T &a, const complex<T> &b) { \
    return complex<T>(a) OPERATOR b; \
  }
__OFFLOAD_MIXED(+) __OFFLOAD_MIXED(-)
#undef __OFFLOAD_MIXED
template <typename T> __OFFLOAD_FN complex<T> operator*(const complex<T> &a, const T &b) { return {a.re * b, a.im * b}; }
template <typename T> __OFFLOAD_FN complex<T> operator*(const T &a, const complex<T> &b) { return b * a; }
template <typename T> __OFFLOAD_FN complex<T> operator/(const complex<T> &a, const T &b) { return {a.re / b, a.im / b}; }
template <typename T> __OFFLOAD_FN complex<T> operator/(const T &a, const complex<T> &b) { return complex<T>(a) / b; }
template <typename T> __OFFLOAD_FN complex<T> operator-(const complex<T> &v) { return {-v.re, -v.im}; }
template <typename T> __OFFLOAD_FN complex<T> operator+(const complex<T> &v) { return v; }
template <typename T> __OFFLOAD_FN bool operator==(const complex<T> &a, const complex<T> &b) {
  return a.re == b.re && a.im == b.im;
}
template <typename T> __OFFLOAD_FN bool operator!=(const complex<T> &a, const complex<T> &b) { return !(a == b); }
template <typename T> __OFFLOAD_FN complex<T> conj(const complex<T> &v) { return {v.re, -v.im}; }
template <typename T> __OFFLOAD_FN T norm(const complex<T> &v) { return v.re * v.re + v.im * v.im; }
template <typename T> __OFFLOAD_FN T abs(const complex<T> &v) { return ::hypot(v.re, v.im); }
template <typename T> __OFFLOAD_FN T arg(const complex<T> &v) { return ::atan2(v.im, v.re); }
template <typename T> __OFFLOAD_FN complex<T> polar(const T &size, const T &angle = T()) {
  return {size * ::cos(angle), size * ::sin(angle)};
}
template <typename T> __OFFLOAD_FN complex<T> exp(const complex<T> &v) { return polar((T)::exp(v.re), v.im); }
template <typename T> __OFFLOAD_FN complex<T> log(const complex<T> &v) { return {(T)::log(abs(v)), arg(v)}; }
template <typename T> __OFFLOAD_FN complex<T> pow(const complex<T> &v, const complex<T> &by) { return exp(by * log(v)); }
template <typename T> __OFFLOAD_FN complex<T> pow(const complex<T> &v, const T &by) { return exp(log(v) * by); }
template <typename T> __OFFLOAD_FN complex<T> sqrt(const complex<T> &v) { return polar((T)::sqrt(abs(v)), arg(v) / 2); }
template <typename T> __OFFLOAD_FN complex<T> sin(const complex<T> &v) {
  return {::sin(v.re) * ::cosh(v.im), ::cos(v.re) * ::sinh(v.im)};
}
template <typename T> __OFFLOAD_FN complex<T> cos(const complex<T> &v) {
  return {::cos(v.re) * ::cosh(v.im), -(::sin(v.re) * ::sinh(v.im))};
}
#undef __OFFLOAD_FN
}
#include <offload_names_end.h>
