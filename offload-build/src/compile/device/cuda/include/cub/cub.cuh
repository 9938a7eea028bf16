// What of CUB runs within a block, and declarations of algorithms over the whole device, which need NVIDIA's headers.
#pragma once
#if __has_include(<chrono>) && __has_include(<iostream>)
// Sources count on what CUB includes.
#include <chrono>
#include <iostream>
#include <iterator>
#include <limits>
#endif
#include <cub/util_debug.cuh>
#include <cub/util_type.cuh>
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>
#include <cub/device/device_algorithms.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
