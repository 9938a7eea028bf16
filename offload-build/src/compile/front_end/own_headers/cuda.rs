//! Headers of a CUDA toolkit, written from NVIDIA's public documentation.

/// Of headers whose content comes before each file.
const RUNTIME: &str = include_str!("../../device/cuda/include/cuda_runtime.h");

/// Of each header of an algorithm over the whole device.
const CUB_DEVICE: &str = "#include <cub/device/device_algorithms.cuh>\n";

/// A header of `cuda::std` whose types and `constexpr` functions are those of the C++ library of this machine.
macro_rules! standard {
    ($name:literal) => {
        concat!(
            "#pragma once\n#include <",
            $name,
            ">\nnamespace cuda {\nnamespace std {\nusing namespace ::std;\n}\n}\n"
        )
    };
}

/// The headers by the names that CUDA has for them.
pub(super) const HEADERS: &[(&str, &str)] = &[
    ("cooperative_groups.h", include_str!("../../device/cuda/include/cooperative_groups.h")),
    ("cooperative_groups/reduce.h", include_str!("../../device/cuda/include/cooperative_groups/reduce.h")),
    ("crt/sm_70_rt.hpp", include_str!("../../device/cuda/include/crt/sm_70_rt.hpp")),
    ("cub/block/block_reduce.cuh", include_str!("../../device/cuda/include/cub/block/block_reduce.cuh")),
    ("cub/block/block_scan.cuh", include_str!("../../device/cuda/include/cub/block/block_scan.cuh")),
    ("cub/cub.cuh", include_str!("../../device/cuda/include/cub/cub.cuh")),
    (
        "cub/thread/thread_operators.cuh",
        include_str!("../../device/cuda/include/cub/thread/thread_operators.cuh"),
    ),
    ("cub/warp/warp_reduce.cuh", include_str!("../../device/cuda/include/cub/warp/warp_reduce.cuh")),
    ("cub/warp/warp_scan.cuh", include_str!("../../device/cuda/include/cub/warp/warp_scan.cuh")),
    (
        "cub/block/block_adjacent_difference.cuh",
        include_str!("../../device/cuda/include/cub/block/block_adjacent_difference.cuh"),
    ),
    (
        "cub/block/block_discontinuity.cuh",
        include_str!("../../device/cuda/include/cub/block/block_discontinuity.cuh"),
    ),
    ("cub/block/block_exchange.cuh", include_str!("../../device/cuda/include/cub/block/block_exchange.cuh")),
    (
        "cub/block/block_histogram.cuh",
        include_str!("../../device/cuda/include/cub/block/block_histogram.cuh"),
    ),
    ("cub/block/block_load.cuh", include_str!("../../device/cuda/include/cub/block/block_load.cuh")),
    (
        "cub/block/block_radix_rank.cuh",
        include_str!("../../device/cuda/include/cub/block/block_radix_rank.cuh"),
    ),
    (
        "cub/block/block_radix_sort.cuh",
        include_str!("../../device/cuda/include/cub/block/block_radix_sort.cuh"),
    ),
    ("cub/block/block_shuffle.cuh", include_str!("../../device/cuda/include/cub/block/block_shuffle.cuh")),
    ("cub/block/block_store.cuh", include_str!("../../device/cuda/include/cub/block/block_store.cuh")),
    (
        "cub/device/device_algorithms.cuh",
        include_str!("../../device/cuda/include/cub/device/device_algorithms.cuh"),
    ),
    ("cub/device/device_histogram.cuh", CUB_DEVICE),
    ("cub/device/device_merge_sort.cuh", CUB_DEVICE),
    ("cub/device/device_partition.cuh", CUB_DEVICE),
    ("cub/device/device_radix_sort.cuh", CUB_DEVICE),
    ("cub/device/device_reduce.cuh", CUB_DEVICE),
    ("cub/device/device_run_length_encode.cuh", CUB_DEVICE),
    ("cub/device/device_scan.cuh", CUB_DEVICE),
    ("cub/device/device_segmented_radix_sort.cuh", CUB_DEVICE),
    ("cub/device/device_segmented_reduce.cuh", CUB_DEVICE),
    ("cub/device/device_segmented_sort.cuh", CUB_DEVICE),
    ("cub/device/device_select.cuh", CUB_DEVICE),
    ("cub/util_type.cuh", include_str!("../../device/cuda/include/cub/util_type.cuh")),
    ("cuComplex.h", include_str!("../../device/cuda/include/cuComplex.h")),
    ("cublas_v2.h", include_str!("../../device/cuda/include/cublas_v2.h")),
    ("cuda.h", include_str!("../../device/cuda/include/cuda.h")),
    ("cuda/atomic", include_str!("../../device/cuda/include/cuda/atomic")),
    ("cuda/std/array", standard!("array")),
    ("cuda/std/atomic", "#include <cuda/atomic>\n"),
    ("cuda/std/climits", standard!("climits")),
    ("cuda/std/cstddef", standard!("cstddef")),
    ("cuda/std/cstdint", standard!("cstdint")),
    ("cuda/std/limits", include_str!("../../device/cuda/include/cuda/std/limits")),
    ("cuda/std/tuple", standard!("tuple")),
    ("cuda/std/type_traits", standard!("type_traits")),
    ("cuda/std/utility", standard!("utility")),
    ("cuda_bf16.h", include_str!("../../device/cuda/include/cuda_bf16.h")),
    ("cuda_device_runtime_api.h", RUNTIME),
    ("cuda_fp16.h", include_str!("../../device/cuda/include/cuda_fp16.h")),
    ("cuda_fp8.h", include_str!("../../device/cuda/include/cuda_fp8.h")),
    ("cuda_pipeline.h", include_str!("../../device/cuda/include/cuda_pipeline.h")),
    ("cuda_pipeline_primitives.h", include_str!("../../device/cuda/include/cuda_pipeline.h")),
    ("cuda_profiler_api.h", RUNTIME),
    ("cuda_runtime.h", RUNTIME),
    ("cuda_runtime_api.h", RUNTIME),
    ("curand_kernel.h", include_str!("../../device/cuda/include/curand_kernel.h")),
    ("device_atomic_functions.h", RUNTIME),
    ("device_functions.h", RUNTIME),
    ("device_launch_parameters.h", RUNTIME),
    ("driver_types.h", RUNTIME),
    ("host_defines.h", RUNTIME),
    ("library_types.h", include_str!("../../device/cuda/include/library_types.h")),
    ("math_constants.h", include_str!("../../device/cuda/include/math_constants.h")),
    ("mma.h", include_str!("../../device/cuda/include/mma.h")),
    ("offload_mma_lanes.h", include_str!("../../device/cuda/include/offload_mma_lanes.h")),
    ("offload_mma_nvptx.h", include_str!("../../device/cuda/include/offload_mma_nvptx.h")),
    ("offload_names_begin.h", include_str!("../../device/cuda/include/offload_names_begin.h")),
    ("offload_names_end.h", include_str!("../../device/cuda/include/offload_names_end.h")),
    ("offload_numbers_16.h", include_str!("../../device/cuda/include/offload_numbers_16.h")),
    ("sm_20_atomic_functions.h", RUNTIME),
    ("sm_20_intrinsics.h", RUNTIME),
    ("sm_30_intrinsics.h", RUNTIME),
    ("sm_32_atomic_functions.h", RUNTIME),
    ("sm_32_intrinsics.h", RUNTIME),
    ("sm_35_atomic_functions.h", RUNTIME),
    ("sm_35_intrinsics.h", RUNTIME),
    ("sm_60_atomic_functions.h", RUNTIME),
    ("sm_61_intrinsics.h", RUNTIME),
    ("thrust/device_ptr.h", include_str!("../../device/cuda/include/thrust/device_ptr.h")),
    ("thrust/execution_policy.h", include_str!("../../device/cuda/include/thrust/execution_policy.h")),
    ("thrust/scan.h", include_str!("../../device/cuda/include/thrust/scan.h")),
    ("vector_functions.h", RUNTIME),
    ("vector_types.h", RUNTIME),
];
