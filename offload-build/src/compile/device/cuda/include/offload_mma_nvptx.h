// Products of tiles by the tensor cores of NVIDIA, part of mma.h.
namespace nvcuda {
namespace wmma {
// The operands of a shape: the clang built-in functions are those of its instruction.
#define __OFFLOAD_OPERAND(USE, M, N, K, TYPE, COUNT, LOAD) \
  template <typename Layout> class fragment<USE, M, N, K, TYPE, Layout> : public __offload_elements<TYPE, COUNT> {}; \
  template <typename Layout> \
  static __device__ __forceinline__ void load_matrix_sync(fragment<USE, M, N, K, TYPE, Layout> &tile, \
                                                          const TYPE *from, unsigned int stride) { \
    LOAD((int *)tile.x, (const int *)from, stride, __offload_layout<Layout>::value); \
  }
#define __OFFLOAD_SUM(M, N, K, TYPE, WORD, COUNT, LOAD, STORE) \
  template <> class fragment<accumulator, M, N, K, TYPE> : public __offload_elements<TYPE, COUNT> {}; \
  static __device__ __forceinline__ void load_matrix_sync(fragment<accumulator, M, N, K, TYPE> &tile, \
                                                          const TYPE *from, unsigned int stride, layout_t layout) { \
    if (layout == mem_row_major) \
      LOAD((WORD *)tile.x, (const WORD *)from, stride, 0); \
    else \
      LOAD((WORD *)tile.x, (const WORD *)from, stride, 1); \
  } \
  static __device__ __forceinline__ void store_matrix_sync( \
      TYPE *to, const fragment<accumulator, M, N, K, TYPE> &tile, unsigned int stride, layout_t layout) { \
    if (layout == mem_row_major) \
      STORE((WORD *)to, (const WORD *)tile.x, stride, 0); \
    else \
      STORE((WORD *)to, (const WORD *)tile.x, stride, 1); \
  }
// Layouts are 2 for row-major `a`, 1 for column-major `b`: they have to be constants.
#define __OFFLOAD_PRODUCT(M, N, K, TYPE, D, C, D_WORD, C_WORD, MULTIPLY) \
  template <typename A, typename B> \
  static __device__ __forceinline__ void mma_sync( \
      fragment<accumulator, M, N, K, D> &d, const fragment<matrix_a, M, N, K, TYPE, A> &a, \
      const fragment<matrix_b, M, N, K, TYPE, B> &b, const fragment<accumulator, M, N, K, C> &c) { \
    MULTIPLY((D_WORD *)d.x, (const int *)a.x, (const int *)b.x, (const C_WORD *)c.x, \
             __offload_layout<A>::value * 2 + __offload_layout<B>::value, 0); \
  }

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
#define __OFFLOAD_SHAPE(M, N, K, NAME) \
  __OFFLOAD_OPERAND(matrix_a, M, N, K, __half, 16, __hmma_##NAME##_ld_a) \
  __OFFLOAD_OPERAND(matrix_b, M, N, K, __half, 16, __hmma_##NAME##_ld_b) \
  __OFFLOAD_SUM(M, N, K, float, float, 8, __hmma_##NAME##_ld_c_f32, __hmma_##NAME##_st_c_f32) \
  __OFFLOAD_SUM(M, N, K, __half, int, 8, __hmma_##NAME##_ld_c_f16, __hmma_##NAME##_st_c_f16) \
  __OFFLOAD_PRODUCT(M, N, K, __half, float, float, float, float, __hmma_##NAME##_mma_f32f32) \
  __OFFLOAD_PRODUCT(M, N, K, __half, __half, __half, int, int, __hmma_##NAME##_mma_f16f16) \
  __OFFLOAD_PRODUCT(M, N, K, __half, float, __half, float, int, __hmma_##NAME##_mma_f32f16) \
  __OFFLOAD_PRODUCT(M, N, K, __half, __half, float, int, float, __hmma_##NAME##_mma_f16f32)
__OFFLOAD_SHAPE(16, 16, 16, m16n16k16)
__OFFLOAD_SHAPE(32, 8, 16, m32n8k16)
__OFFLOAD_SHAPE(8, 32, 16, m8n32k16)
#undef __OFFLOAD_SHAPE
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 720
#define __OFFLOAD_SHAPE(M, N, K, NAME, A, B) \
  __OFFLOAD_OPERAND(matrix_a, M, N, K, signed char, A, __imma_##NAME##_ld_a_s8) \
  __OFFLOAD_OPERAND(matrix_b, M, N, K, signed char, B, __imma_##NAME##_ld_b_s8) \
  __OFFLOAD_OPERAND(matrix_a, M, N, K, unsigned char, A, __imma_##NAME##_ld_a_u8) \
  __OFFLOAD_OPERAND(matrix_b, M, N, K, unsigned char, B, __imma_##NAME##_ld_b_u8) \
  __OFFLOAD_SUM(M, N, K, int, int, 8, __imma_##NAME##_ld_c, __imma_##NAME##_st_c_i32) \
  __OFFLOAD_PRODUCT(M, N, K, signed char, int, int, int, int, __imma_##NAME##_mma_s8) \
  __OFFLOAD_PRODUCT(M, N, K, unsigned char, int, int, int, int, __imma_##NAME##_mma_u8)
__OFFLOAD_SHAPE(16, 16, 16, m16n16k16, 8, 8)
__OFFLOAD_SHAPE(32, 8, 16, m32n8k16, 16, 4)
__OFFLOAD_SHAPE(8, 32, 16, m8n32k16, 4, 16)
#undef __OFFLOAD_SHAPE
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
// The sums are those of half.
#define __OFFLOAD_SHAPE(M, N, K, NAME, A, B) \
  __OFFLOAD_OPERAND(matrix_a, M, N, K, __nv_bfloat16, A, __mma_bf16_##NAME##_ld_a) \
  __OFFLOAD_OPERAND(matrix_b, M, N, K, __nv_bfloat16, B, __mma_bf16_##NAME##_ld_b) \
  __OFFLOAD_PRODUCT(M, N, K, __nv_bfloat16, float, float, float, float, __mma_bf16_##NAME##_mma_f32)
__OFFLOAD_SHAPE(16, 16, 16, m16n16k16, 8, 8)
__OFFLOAD_SHAPE(32, 8, 16, m32n8k16, 16, 4)
__OFFLOAD_SHAPE(8, 32, 16, m8n32k16, 4, 16)
#undef __OFFLOAD_SHAPE
#endif
#undef __OFFLOAD_OPERAND
#undef __OFFLOAD_SUM
#undef __OFFLOAD_PRODUCT
}
}
