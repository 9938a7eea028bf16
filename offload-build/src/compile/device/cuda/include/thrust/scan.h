// Scans over the whole device, which host code starts. They are declared alone, as host code is checked and left out;
// what they launch is not in the image: https://nvidia.github.io/cccl/thrust/api/groups/group__prefixsums.html
#pragma once
#include <offload_names_begin.h>
#include <thrust/execution_policy.h>
namespace thrust {
template <typename I, typename O> __host__ O inclusive_scan(I first, I last, O to);
template <typename P, typename I, typename O> __host__ O inclusive_scan(const P &policy, I first, I last, O to);
template <typename I, typename O> __host__ O exclusive_scan(I first, I last, O to);
template <typename P, typename I, typename O> __host__ O exclusive_scan(const P &policy, I first, I last, O to);
}
#include <offload_names_end.h>
