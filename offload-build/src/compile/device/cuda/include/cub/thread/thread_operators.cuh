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
}
#include <offload_names_end.h>
