// Tuples and pairs, which are those of the C++ library: https://nvidia.github.io/cccl/thrust/api/groups/group__tuple.html
#pragma once
#include <tuple>
#include <utility>
namespace thrust {
using std::get;
using std::make_pair;
using std::make_tuple;
using std::pair;
using std::swap;
using std::tie;
using std::tuple;
using std::tuple_element;
using std::tuple_size;
}
