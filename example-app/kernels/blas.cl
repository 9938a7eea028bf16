#include "common.h"

/* y = a * x + y */
__kernel void saxpy(float a, __global const float *x, __global float *y, uint n) {
  size_t i = get_global_id(0);
  if (i < n)
    y[i] = a * x[i] + y[i];
}

/* c = a * b for square matrices whose edge n is a multiple of TILE, by rows. Each group computes one tile of c and
 * keeps the tiles of a and b that it needs in local memory. */
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void matmul(__global const float *a, __global const float *b, __global float *c, uint n) {
  __local float tile_a[TILE][TILE];
  __local float tile_b[TILE][TILE];
  size_t column = get_local_id(0), row = get_local_id(1);
  size_t i = get_group_id(1) * TILE + row, j = get_group_id(0) * TILE + column;
  float sum = 0.0f;
  for (size_t k = 0; k < n; k += TILE) {
    tile_a[row][column] = a[i * n + k + column];
    tile_b[row][column] = b[(k + row) * n + j];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t t = 0; t < TILE; ++t)
      sum += tile_a[row][t] * tile_b[t][column];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[i * n + j] = sum;
}
