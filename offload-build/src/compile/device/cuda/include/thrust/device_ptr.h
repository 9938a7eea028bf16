// Pointers to memory of the device, for host code, which is checked and left out:
// https://nvidia.github.io/cccl/thrust/api/classthrust_1_1device__ptr.html
#pragma once
#include <offload_names_begin.h>
namespace thrust {
template <typename T> class device_ptr {
  T *pointer;

public:
  __host__ __device__ device_ptr() : pointer(nullptr) {}
  template <typename U> __host__ __device__ explicit device_ptr(U *pointer) : pointer(pointer) {}
  __host__ __device__ T *get() const { return pointer; }
  __host__ __device__ device_ptr operator+(ptrdiff_t n) const { return device_ptr(pointer + n); }
  __host__ __device__ device_ptr operator-(ptrdiff_t n) const { return device_ptr(pointer - n); }
  __host__ __device__ ptrdiff_t operator-(const device_ptr &other) const { return pointer - other.pointer; }
};
template <typename T> __host__ __device__ device_ptr<T> device_pointer_cast(T *pointer) { return device_ptr<T>(pointer); }
template <typename T> __host__ __device__ T *raw_pointer_cast(const device_ptr<T> &pointer) { return pointer.get(); }
}
#include <offload_names_end.h>
