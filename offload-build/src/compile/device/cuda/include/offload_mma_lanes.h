// Products of tiles by exchanges between lanes, part of mma.h: of each shape a lane has a row of `a`, a column of `b`, and
// eight elements of a column of the sum. Slower than matrix instructions, and of the same operands and results.
namespace nvcuda {
namespace wmma {
static __device__ __forceinline__ int __offload_line(int lines) { return (int)(__offload_lane() % lines); }

// Row `line` of `a` or column `line` of `b`, of `k` elements.
template <int k, typename T>
static __device__ __forceinline__ void __offload_load(T (&x)[k], const T *from, unsigned int line, unsigned int step) {
#pragma unroll
  for (int i = 0; i < k; i++)
    x[i] = from[line + i * step];
}

#define __OFFLOAD_OPERAND(TYPE) \
  template <int m, int n, int k, typename Layout> \
  class fragment<matrix_a, m, n, k, TYPE, Layout> : public __offload_elements<TYPE, k> {}; \
  template <int m, int n, int k, typename Layout> \
  class fragment<matrix_b, m, n, k, TYPE, Layout> : public __offload_elements<TYPE, k> {}; \
  template <int m, int n, int k, typename Layout> \
  static __device__ __forceinline__ void load_matrix_sync(fragment<matrix_a, m, n, k, TYPE, Layout> &tile, const TYPE *from, \
                                        unsigned int stride) { \
    bool by_columns = __offload_layout<Layout>::value; \
    __offload_load(tile.x, from, __offload_line(m) * (by_columns ? 1 : stride), by_columns ? stride : 1); \
  } \
  template <int m, int n, int k, typename Layout> \
  static __device__ __forceinline__ void load_matrix_sync(fragment<matrix_b, m, n, k, TYPE, Layout> &tile, const TYPE *from, \
                                        unsigned int stride) { \
    bool by_columns = __offload_layout<Layout>::value; \
    __offload_load(tile.x, from, __offload_line(n) * (by_columns ? stride : 1), by_columns ? 1 : stride); \
  }
#define __OFFLOAD_SUM(TYPE) \
  template <int m, int n, int k> \
  class fragment<accumulator, m, n, k, TYPE> : public __offload_elements<TYPE, 8> {}; \
  template <int m, int n, int k> \
  static __device__ __forceinline__ void load_matrix_sync(fragment<accumulator, m, n, k, TYPE> &tile, const TYPE *from, \
                                        unsigned int stride, layout_t layout) { \
    _Pragma("unroll") for (int i = 0; i < 8; i++) tile.x[i] = from[__offload_place<n>(i, stride, layout)]; \
  } \
  template <int m, int n, int k> \
  static __device__ __forceinline__ void store_matrix_sync(TYPE *to, const fragment<accumulator, m, n, k, TYPE> &tile, \
                                         unsigned int stride, layout_t layout) { \
    _Pragma("unroll") for (int i = 0; i < 8; i++) to[__offload_place<n>(i, stride, layout)] = tile.x[i]; \
  }
// Where the element `i` of a lane's part of a sum is in memory.
template <int n> static __device__ __forceinline__ unsigned int __offload_place(int i, unsigned int stride, layout_t layout) {
  unsigned int row = __offload_lane() / n * 8 + i;
  unsigned int column = __offload_lane() % n;
  return layout == mem_row_major ? row * stride + column : column * stride + row;
}
__OFFLOAD_OPERAND(__half)
__OFFLOAD_OPERAND(signed char)
__OFFLOAD_OPERAND(unsigned char)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
__OFFLOAD_OPERAND(__nv_bfloat16)
#endif
__OFFLOAD_SUM(float)
__OFFLOAD_SUM(__half)
__OFFLOAD_SUM(int)
#undef __OFFLOAD_OPERAND
#undef __OFFLOAD_SUM

// Sums of half are made in float.
template <typename T> struct __offload_sum { typedef float type; };
template <> struct __offload_sum<int> { typedef int type; };

template <int m, int n, int k, typename T, typename A, typename B, typename C, typename D>
static __device__ __forceinline__ void mma_sync(fragment<accumulator, m, n, k, D> &d, const fragment<matrix_a, m, n, k, T, A> &a,
                              const fragment<matrix_b, m, n, k, T, B> &b,
                              const fragment<accumulator, m, n, k, C> &c) {
  typedef typename __offload_sum<D>::type Sum;
  Sum sums[8];
#pragma unroll
  for (int i = 0; i < 8; i++)
    sums[i] = (Sum)c.x[i];
  int first = (int)(__offload_lane() / n) * 8;
#ifdef __OFFLOAD_TARGET_HOST
  // By memory of the warp: each exchange would be a barrier.
  __shared__ T rows[32][32][k];
  T(*of_warp)[k] = rows[__offload_get_local_linear_id() / 32];
  for (int j = 0; j < k; j++)
    of_warp[__offload_lane()][j] = a.x[j];
  __syncwarp();
  for (int i = 0; i < 8; i++) {
    for (int j = 0; j < k; j++)
      sums[i] += (Sum)of_warp[first + i][j] * (Sum)b.x[j];
  }
  __syncwarp();
#else
#pragma unroll
  for (int i = 0; i < 8; i++) {
#pragma unroll
    for (int j = 0; j < k; j++)
      sums[i] += (Sum)__offload_from_lane(~0u, a.x[j], first + i) * (Sum)b.x[j];
  }
#endif
#pragma unroll
  for (int i = 0; i < 8; i++)
    d.x[i] = D(sums[i]);
}
}
}
