// Errors of CUDA's runtime as C++ has them: https://nvidia.github.io/cccl/thrust/api/groups/group__system__diagnostics.html
#pragma once
#include <offload_names_begin.h>
#include <string>
#include <system_error>
namespace thrust {
namespace system {
using std::errc;
using std::error_category;
using std::error_code;
using std::error_condition;
using std::generic_category;
using std::system_category;
using std::system_error;
class __offload_category : public error_category {
public:
  const char *name() const noexcept override { return "cuda"; }
  std::string message(int error) const override { return cudaGetErrorString((cudaError_t)error); }
};
inline const error_category &cuda_category() {
  static const __offload_category category;
  return category;
}
}
using system::cuda_category;
using system::error_category;
using system::error_code;
using system::error_condition;
using system::generic_category;
using system::system_category;
using system::system_error;
}
#include <offload_names_end.h>
