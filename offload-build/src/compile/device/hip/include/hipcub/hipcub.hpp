#pragma once
// What does not depend on the lanes of a warp.
#pragma push_macro("__activemask")
#undef __activemask
#include <cub/cub.cuh>
#pragma pop_macro("__activemask")
namespace hipcub {
using cub::BlockReduce;
using cub::BlockScan;
using cub::Max;
using cub::Min;
using cub::Sum;
}
