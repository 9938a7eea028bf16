// Pointers to memory of the device, for host code, which is checked and left out:
// https://nvidia.github.io/cccl/thrust/api/classthrust_1_1device__ptr.html
#pragma once
#include <offload_names_begin.h>
#include <iterator>
namespace thrust {
template <typename T> class device_ptr;
// An element of the device's memory, which host code reads and writes by copies.
template <typename T> class device_reference {
public:
  typedef T value_type;
  __host__ operator T() const;
  __host__ device_reference &operator=(const T &v);
  __host__ device_reference &operator=(const device_reference &other);
  template <typename U> __host__ device_reference &operator+=(const U &v);
  template <typename U> __host__ device_reference &operator-=(const U &v);
  __host__ device_reference &operator++();
  __host__ device_ptr<T> operator&() const;
};
template <typename T> class device_ptr {
  T *address;

public:
  typedef T value_type;
  typedef ptrdiff_t difference_type;
  typedef device_reference<T> reference;
  typedef device_ptr pointer;
  typedef std::random_access_iterator_tag iterator_category;
  __host__ __device__ device_ptr() : address(nullptr) {}
  template <typename U> __host__ __device__ explicit device_ptr(U *address) : address(address) {}
  template <typename U> __host__ __device__ device_ptr(const device_ptr<U> &other) : address(other.get()) {}
  __host__ __device__ T *get() const { return address; }
  __host__ __device__ device_ptr operator+(ptrdiff_t n) const { return device_ptr(address + n); }
  __host__ __device__ device_ptr operator-(ptrdiff_t n) const { return device_ptr(address - n); }
  __host__ __device__ device_ptr &operator+=(ptrdiff_t n) { return *this = *this + n; }
  __host__ __device__ device_ptr &operator-=(ptrdiff_t n) { return *this = *this - n; }
  __host__ __device__ device_ptr &operator++() { return *this += 1; }
  __host__ __device__ device_ptr &operator--() { return *this -= 1; }
  __host__ __device__ device_ptr operator++(int) {
    device_ptr before = *this;
    ++address;
    return before;
  }
  __host__ __device__ ptrdiff_t operator-(const device_ptr &other) const { return address - other.address; }
  __host__ __device__ bool operator==(const device_ptr &other) const { return address == other.address; }
  __host__ __device__ bool operator!=(const device_ptr &other) const { return address != other.address; }
  __host__ __device__ bool operator<(const device_ptr &other) const { return address < other.address; }
  __host__ device_reference<T> operator*() const;
  __host__ device_reference<T> operator[](ptrdiff_t n) const;
};
template <typename T> __host__ __device__ device_ptr<T> device_pointer_cast(T *pointer) { return device_ptr<T>(pointer); }
template <typename T> __host__ __device__ device_ptr<T> device_pointer_cast(const device_ptr<T> &pointer) {
  return pointer;
}
template <typename T> __host__ __device__ T *raw_pointer_cast(const device_ptr<T> &pointer) { return pointer.get(); }
template <typename T> __host__ __device__ T *raw_pointer_cast(T *pointer) { return pointer; }
template <typename T> __host__ device_ptr<T> device_malloc(size_t count);
template <typename T> __host__ void device_free(device_ptr<T> pointer);
}
#include <offload_names_end.h>
