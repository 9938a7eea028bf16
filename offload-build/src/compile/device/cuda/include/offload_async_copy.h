// A copy that the threads of a group share, in pieces as large as both addresses allow; beside its threads from global to
// shared memory where the processor can.
#pragma once
#include <offload_names_begin.h>
#include <cuda_pipeline.h>
namespace cuda {
// A size, and an alignment of both addresses: https://nvidia.github.io/cccl/libcudacxx/extended_api/shapes/aligned_size_t.html
template <size_t N> struct aligned_size_t {
  static constexpr size_t align = N;
  size_t value;
  __host__ __device__ explicit constexpr aligned_size_t(size_t size) : value(size) {}
  __host__ __device__ constexpr operator size_t() const { return value; }
};
}
template <unsigned int SIZE>
static __device__ __forceinline__ void __offload_copy_pieces(unsigned int rank, unsigned int count, char *to,
                                                             const char *from, size_t size, bool is_beside) {
  struct __align__(SIZE) Piece { char bytes[SIZE]; };
  for (size_t at = (size_t)rank * SIZE; at < size; at += (size_t)count * SIZE) {
    if constexpr (SIZE >= 4) {
      if (is_beside) {
        __pipeline_memcpy_async(to + at, from + at, SIZE);
        continue;
      }
    }
    *(Piece *)(to + at) = *(const Piece *)(from + at);
  }
}
static __device__ __forceinline__ void __offload_copy_async(unsigned int rank, unsigned int count, void *to,
                                                            const void *from, size_t size) {
  char *target = (char *)to;
  const char *source = (const char *)from;
  size_t bits = (size_t)target | (size_t)source | size;
  bool is_beside = __isShared(to) && __isGlobal(from);
  if (bits % 16 == 0)
    __offload_copy_pieces<16>(rank, count, target, source, size, is_beside);
  else if (bits % 8 == 0)
    __offload_copy_pieces<8>(rank, count, target, source, size, is_beside);
  else if (bits % 4 == 0)
    __offload_copy_pieces<4>(rank, count, target, source, size, is_beside);
  else
    __offload_copy_pieces<1>(rank, count, target, source, size, is_beside);
}
#include <offload_names_end.h>
