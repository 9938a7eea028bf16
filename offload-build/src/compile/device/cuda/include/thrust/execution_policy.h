// Where an algorithm runs, for host code, which is checked and left out:
// https://nvidia.github.io/cccl/thrust/api/groups/group__execution__policies.html
#pragma once
namespace thrust {
struct __offload_policy {
  __host__ __device__ __offload_policy on(cudaStream_t) const { return {}; }
  template <typename Allocator> __host__ __device__ __offload_policy operator()(Allocator &) const { return {}; }
};
struct device_execution_policy : __offload_policy {};
struct host_execution_policy : __offload_policy {};
namespace cuda {
static const __offload_policy par, par_nosync;
}
static const device_execution_policy device;
static const host_execution_policy host;
static const __offload_policy seq;
}
