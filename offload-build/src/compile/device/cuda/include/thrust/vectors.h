// Vectors in memory of the device, for host code, which is checked and left out, and in that of the host:
// https://nvidia.github.io/cccl/thrust/api/classthrust_1_1device__vector.html
#pragma once
#include <offload_names_begin.h>
#include <thrust/device_ptr.h>
#include <vector>
namespace thrust {
template <typename T> class device_vector;
template <typename T, typename A = std::allocator<T>> class host_vector : public std::vector<T, A> {
public:
  using std::vector<T, A>::vector;
  host_vector() = default;
  host_vector(const std::vector<T, A> &other) : std::vector<T, A>(other) {}
  template <typename U> __host__ host_vector(const device_vector<U> &other);
  template <typename U> __host__ host_vector &operator=(const device_vector<U> &other);
  host_vector &operator=(const std::vector<T, A> &other) {
    std::vector<T, A>::operator=(other);
    return *this;
  }
};
template <typename T> class device_vector {
public:
  typedef T value_type;
  typedef size_t size_type;
  typedef ptrdiff_t difference_type;
  typedef device_ptr<T> pointer, iterator;
  typedef device_ptr<const T> const_iterator;
  typedef device_reference<T> reference;
  typedef T const_reference;
  __host__ device_vector();
  __host__ explicit device_vector(size_t count);
  __host__ device_vector(size_t count, const T &v);
  __host__ device_vector(const device_vector &other);
  template <typename U> __host__ device_vector(const device_vector<U> &other);
  template <typename U, typename A> __host__ device_vector(const std::vector<U, A> &other);
  template <typename I, typename O> __host__ device_vector(I first, O last);
  __host__ ~device_vector();
  __host__ device_vector &operator=(const device_vector &other);
  template <typename U, typename A> __host__ device_vector &operator=(const std::vector<U, A> &other);
  __host__ size_t size() const;
  __host__ size_t capacity() const;
  __host__ bool empty() const;
  __host__ void resize(size_t count, const T &v = T());
  __host__ void reserve(size_t count);
  __host__ void shrink_to_fit();
  __host__ void clear();
  __host__ void swap(device_vector &other);
  __host__ void push_back(const T &v);
  __host__ void pop_back();
  __host__ void assign(size_t count, const T &v);
  template <typename I> __host__ void assign(I first, I last);
  template <typename... A> __host__ iterator insert(iterator before, const A &...values);
  __host__ iterator erase(iterator first);
  __host__ iterator erase(iterator first, iterator last);
  __host__ iterator begin();
  __host__ iterator end();
  __host__ const_iterator begin() const;
  __host__ const_iterator end() const;
  __host__ const_iterator cbegin() const;
  __host__ const_iterator cend() const;
  __host__ device_ptr<T> data();
  __host__ device_ptr<const T> data() const;
  __host__ device_reference<T> operator[](size_t n);
  __host__ T operator[](size_t n) const;
  __host__ device_reference<T> front();
  __host__ device_reference<T> back();
  __host__ T front() const;
  __host__ T back() const;
};
}
#include <offload_names_end.h>
