// Products of tiles by a warp: https://docs.nvidia.com/cuda/cuda-c-programming-guide/#warp-matrix-functions
#pragma once
#include <offload_names_begin.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace nvcuda {
namespace wmma {
struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
enum layout_t { mem_row_major, mem_col_major };
template <typename Use, int m, int n, int k, typename T, typename Layout = void> class fragment;

template <typename T, int COUNT> struct __offload_elements {
  enum { num_elements = COUNT };
  T x[COUNT];
};
template <typename Layout> struct __offload_layout;
template <> struct __offload_layout<row_major> { enum { value = 0 }; };
template <> struct __offload_layout<col_major> { enum { value = 1 }; };

template <typename Use, int m, int n, int k, typename T, typename Layout>
static __device__ __forceinline__ void fill_fragment(fragment<Use, m, n, k, T, Layout> &tile, const T &v) {
#pragma unroll
  for (int i = 0; i < tile.num_elements; i++)
    tile.x[i] = v;
}

}
}
#if defined(__AMDGCN__) || defined(__OFFLOAD_TARGET_HOST)
#include "offload_mma_lanes.h"
#else
#include "offload_mma_nvptx.h"
#endif
#include <offload_names_end.h>
