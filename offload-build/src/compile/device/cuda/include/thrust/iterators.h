// Iterators that make what they are read for:
// https://nvidia.github.io/cccl/thrust/api/groups/group__fancyiterator.html
#pragma once
#include <offload_names_begin.h>
#include <thrust/device_ptr.h>
#include <thrust/tuple.h>
#include <iterator>
namespace thrust {
// Of a type that moves by `advance`, is apart by `distance`, and is read by `at`.
template <typename I, typename T> struct __offload_iterator {
  typedef T value_type, reference;
  typedef ptrdiff_t difference_type;
  typedef T *pointer;
  typedef std::random_access_iterator_tag iterator_category;
  __host__ __device__ const I &self() const { return static_cast<const I &>(*this); }
  __host__ __device__ decltype(auto) operator*() const { return self().at(0); }
  __host__ __device__ decltype(auto) operator[](ptrdiff_t n) const { return self().at(n); }
  __host__ __device__ I operator+(ptrdiff_t n) const {
    I other = self();
    other.advance(n);
    return other;
  }
  __host__ __device__ I operator-(ptrdiff_t n) const { return *this + -n; }
  __host__ __device__ I &operator+=(ptrdiff_t n) {
    static_cast<I &>(*this).advance(n);
    return static_cast<I &>(*this);
  }
  __host__ __device__ I &operator-=(ptrdiff_t n) { return *this += -n; }
  __host__ __device__ I &operator++() { return *this += 1; }
  __host__ __device__ I &operator--() { return *this += -1; }
  __host__ __device__ I operator++(int) {
    I before = self();
    *this += 1;
    return before;
  }
  __host__ __device__ ptrdiff_t operator-(const I &other) const { return self().distance(other); }
  __host__ __device__ bool operator==(const I &other) const { return self().distance(other) == 0; }
  __host__ __device__ bool operator!=(const I &other) const { return self().distance(other) != 0; }
  __host__ __device__ bool operator<(const I &other) const { return self().distance(other) < 0; }
};
template <typename T> class counting_iterator : public __offload_iterator<counting_iterator<T>, T> {
  T number;

public:
  __host__ __device__ explicit counting_iterator(T number = T()) : number(number) {}
  __host__ __device__ T at(ptrdiff_t n) const { return (T)(number + n); }
  __host__ __device__ void advance(ptrdiff_t n) { number = (T)(number + n); }
  __host__ __device__ ptrdiff_t distance(const counting_iterator &other) const {
    return (ptrdiff_t)number - (ptrdiff_t)other.number;
  }
};
template <typename T> class constant_iterator : public __offload_iterator<constant_iterator<T>, T> {
  T value;
  ptrdiff_t place;

public:
  __host__ __device__ explicit constant_iterator(T value = T(), ptrdiff_t place = 0) : value(value), place(place) {}
  __host__ __device__ T at(ptrdiff_t) const { return value; }
  __host__ __device__ void advance(ptrdiff_t n) { place += n; }
  __host__ __device__ ptrdiff_t distance(const constant_iterator &other) const { return place - other.place; }
};
template <typename F, typename I, typename T = decltype(std::declval<F>()(*std::declval<I>()))>
class transform_iterator : public __offload_iterator<transform_iterator<F, I, T>, T> {
  I from;
  F function;

public:
  __host__ __device__ transform_iterator(I from, F function) : from(from), function(function) {}
  __host__ __device__ T at(ptrdiff_t n) const { return function(from[n]); }
  __host__ __device__ void advance(ptrdiff_t n) { from = from + n; }
  __host__ __device__ ptrdiff_t distance(const transform_iterator &other) const { return from - other.from; }
  __host__ __device__ I base() const { return from; }
};
// The elements of one that the indices of another name.
template <typename I, typename U>
class permutation_iterator : public __offload_iterator<permutation_iterator<I, U>, typename std::iterator_traits<I>::value_type> {
  I from;
  U indices;

public:
  __host__ __device__ permutation_iterator(I from, U indices) : from(from), indices(indices) {}
  __host__ __device__ decltype(auto) at(ptrdiff_t n) const { return from[indices[n]]; }
  __host__ __device__ void advance(ptrdiff_t n) { indices = indices + n; }
  __host__ __device__ ptrdiff_t distance(const permutation_iterator &other) const { return indices - other.indices; }
};
template <typename U> class zip_iterator;
template <typename... I>
class zip_iterator<std::tuple<I...>>
    : public __offload_iterator<zip_iterator<std::tuple<I...>>, std::tuple<typename std::iterator_traits<I>::reference...>> {
  std::tuple<I...> all;

public:
  __host__ __device__ zip_iterator(std::tuple<I...> all) : all(all) {}
  __host__ __device__ auto at(ptrdiff_t n) const {
    return std::apply(
        [=](const I &...each) { return std::tuple<typename std::iterator_traits<I>::reference...>(each[n]...); }, all);
  }
  __host__ __device__ void advance(ptrdiff_t n) {
    all = std::apply([=](const I &...each) { return std::tuple<I...>((each + n)...); }, all);
  }
  __host__ __device__ ptrdiff_t distance(const zip_iterator &other) const {
    return std::get<0>(all) - std::get<0>(other.all);
  }
  __host__ __device__ const std::tuple<I...> &get_iterator_tuple() const { return all; }
};
// What is written to it is gone.
class discard_iterator : public __offload_iterator<discard_iterator, int> {
  ptrdiff_t place;

public:
  struct Nothing {
    template <typename T> __host__ __device__ const Nothing &operator=(const T &) const { return *this; }
  };
  __host__ __device__ explicit discard_iterator(ptrdiff_t place = 0) : place(place) {}
  __host__ __device__ Nothing at(ptrdiff_t) const { return {}; }
  __host__ __device__ void advance(ptrdiff_t n) { place += n; }
  __host__ __device__ ptrdiff_t distance(const discard_iterator &other) const { return place - other.place; }
};
template <typename T> __host__ __device__ counting_iterator<T> make_counting_iterator(T v) {
  return counting_iterator<T>(v);
}
template <typename T> __host__ __device__ constant_iterator<T> make_constant_iterator(T v) {
  return constant_iterator<T>(v);
}
template <typename I, typename F> __host__ __device__ transform_iterator<F, I> make_transform_iterator(I from, F function) {
  return transform_iterator<F, I>(from, function);
}
template <typename I, typename U>
__host__ __device__ permutation_iterator<I, U> make_permutation_iterator(I from, U indices) {
  return permutation_iterator<I, U>(from, indices);
}
template <typename... I> __host__ __device__ zip_iterator<std::tuple<I...>> make_zip_iterator(std::tuple<I...> all) {
  return zip_iterator<std::tuple<I...>>(all);
}
template <typename I, typename... U>
__host__ __device__ zip_iterator<std::tuple<I, U...>> make_zip_iterator(I first, U... others) {
  return zip_iterator<std::tuple<I, U...>>(std::tuple<I, U...>(first, others...));
}
static inline __host__ __device__ discard_iterator make_discard_iterator() { return discard_iterator(); }
template <typename I> std::reverse_iterator<I> make_reverse_iterator(I from) { return std::reverse_iterator<I>(from); }
using std::iterator_traits;
using std::reverse_iterator;
template <typename I> struct iterator_value { typedef typename std::iterator_traits<I>::value_type type; };
template <typename I> struct iterator_difference { typedef typename std::iterator_traits<I>::difference_type type; };
template <typename I> struct iterator_reference { typedef typename std::iterator_traits<I>::reference type; };
}
#include <offload_names_end.h>
