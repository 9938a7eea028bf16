#include "common.h"

/* sums[g] = sum of the g-th GROUP elements of x; the host adds the sums. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void reduce(__global const float *x, __global float *sums, uint n) {
  __local float part[GROUP];
  size_t i = get_global_id(0), l = get_local_id(0);
  part[l] = i < n ? x[i] : 0.0f;
  for (size_t half_size = GROUP / 2; half_size > 0; half_size /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < half_size)
      part[l] += part[l + half_size];
  }
  if (l == 0)
    sums[get_group_id(0)] = part[0];
}

/* bins[v % BINS] counts the values v of data. Each group counts in local memory first. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void histogram(__global const uint *data, __global uint *bins, uint n) {
  __local uint counts[BINS];
  size_t i = get_global_id(0), l = get_local_id(0);
  if (l < BINS)
    counts[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n)
    atomic_inc(&counts[data[i] % BINS]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < BINS)
    atomic_add(&bins[l], counts[l]);
}
