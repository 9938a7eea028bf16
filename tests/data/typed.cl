/* Kernels with every kind of argument; `typed.inc` beside this file is the Rust that is generated for them. */
typedef float real;

struct particle {
  float4 place;
  uint cell;
};

__kernel void saxpy(real a, __global const real *x, __global real *restrict y, uint n) {
  size_t i = get_global_id(0);
  if (i < n)
    y[i] = a * x[i] + y[i];
}

/* Each group adds in local memory. */
kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void sums(constant float *weights, global const float *x, global float *sums, local float *scratch) {
  size_t i = get_global_id(0), l = get_local_id(0);
  scratch[l] = x[i] * weights[l];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0)
    for (size_t k = 0; k < get_local_size(0); ++k)
      sums[get_group_id(0)] += scratch[k];
}

kernel void vectors(float4 by, uchar3 mask, long shift, global float4 *x) { x[get_global_id(0)] += by; }

kernel void halves(global const half *from, global float *to) { to[0] = vload_half(0, from); }

kernel void move(struct particle by, global struct particle *self, unsigned int type) {
  self[type].place += by.place;
}

kernel void blur(read_only image2d_t from, sampler_t sampler, write_only image2d_array_t to) {
  write_imagef(to, (int4)(0, 0, 0, 0), read_imagef(from, sampler, (int2)(0, 0)));
}

/* Its bounds are declared: `n` elements of `x`, and a value of local memory for each work-item. */
kernel void scale(float a, global float *x, uint n, local float *scratch) {
  size_t i = get_global_id(0), l = get_local_id(0);
  scratch[l] = a;
  if (i < n)
    x[i] *= scratch[l];
}

kernel void depths(read_only image2d_depth_t from, global float *to) { to[0] = read_imagef(from, (int2)(0, 0)); }
