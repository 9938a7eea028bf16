// Functions of values: https://nvidia.github.io/cccl/thrust/api/groups/group__function__objects.html
#pragma once
#include <offload_names_begin.h>
namespace thrust {
#define __OFFLOAD_FUNCTION(NAME, RESULT, EXPRESSION) \
  template <typename T = void> struct NAME { \
    typedef T first_argument_type; \
    typedef T second_argument_type; \
    typedef RESULT result_type; \
    constexpr __host__ __device__ RESULT operator()(const T &a, const T &b) const { return EXPRESSION; } \
  }; \
  template <> struct NAME<void> { \
    template <typename T, typename U> constexpr __host__ __device__ auto operator()(const T &a, const U &b) const { \
      return EXPRESSION; \
    } \
  };
__OFFLOAD_FUNCTION(plus, T, a + b) __OFFLOAD_FUNCTION(minus, T, a - b) __OFFLOAD_FUNCTION(multiplies, T, a * b)
__OFFLOAD_FUNCTION(divides, T, a / b) __OFFLOAD_FUNCTION(modulus, T, a % b)
__OFFLOAD_FUNCTION(maximum, T, a < b ? b : a) __OFFLOAD_FUNCTION(minimum, T, b < a ? b : a)
__OFFLOAD_FUNCTION(equal_to, bool, a == b) __OFFLOAD_FUNCTION(not_equal_to, bool, a != b)
__OFFLOAD_FUNCTION(less, bool, a < b) __OFFLOAD_FUNCTION(greater, bool, a > b)
__OFFLOAD_FUNCTION(less_equal, bool, a <= b) __OFFLOAD_FUNCTION(greater_equal, bool, a >= b)
__OFFLOAD_FUNCTION(logical_and, bool, a && b) __OFFLOAD_FUNCTION(logical_or, bool, a || b)
__OFFLOAD_FUNCTION(bit_and, T, a & b) __OFFLOAD_FUNCTION(bit_or, T, a | b) __OFFLOAD_FUNCTION(bit_xor, T, a ^ b)
#undef __OFFLOAD_FUNCTION
#define __OFFLOAD_FUNCTION(NAME, RESULT, EXPRESSION) \
  template <typename T = void> struct NAME { \
    typedef T argument_type; \
    typedef RESULT result_type; \
    constexpr __host__ __device__ RESULT operator()(const T &v) const { return EXPRESSION; } \
  };
__OFFLOAD_FUNCTION(negate, T, -v) __OFFLOAD_FUNCTION(logical_not, bool, !v) __OFFLOAD_FUNCTION(identity, T, v)
__OFFLOAD_FUNCTION(square, T, v *v)
#undef __OFFLOAD_FUNCTION
}
#include <offload_names_end.h>
