// Operators of reductions and scans: https://nvidia.github.io/cccl/cub/
#pragma once
#include <offload_names_begin.h>
namespace cub {
struct Sum {
  template <typename T> __host__ __device__ T operator()(const T &a, const T &b) const { return a + b; }
};
struct Max {
  template <typename T> __host__ __device__ T operator()(const T &a, const T &b) const { return a < b ? b : a; }
};
struct Min {
  template <typename T> __host__ __device__ T operator()(const T &a, const T &b) const { return b < a ? b : a; }
};
struct Difference {
  template <typename T> __host__ __device__ T operator()(const T &a, const T &b) const { return a - b; }
};
struct Division {
  template <typename T> __host__ __device__ T operator()(const T &a, const T &b) const { return a / b; }
};
struct Equality {
  template <typename T> __host__ __device__ bool operator()(const T &a, const T &b) const { return a == b; }
};
struct Inequality {
  template <typename T> __host__ __device__ bool operator()(const T &a, const T &b) const { return a != b; }
};
// Of several equal values the one with the least key.
struct ArgMax {
  template <typename P> __host__ __device__ P operator()(const P &a, const P &b) const {
    return a.value < b.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <typename P> __host__ __device__ P operator()(const P &a, const P &b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
}
#include <offload_names_end.h>
