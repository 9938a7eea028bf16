// Source of saxpy-reduce.spv and saxpy-reduce.zebin; see README.md beside it.
kernel void saxpy(float a, global const float *x, global float *y, uint n) {
  size_t i = get_global_id(0);
  if (i < n)
    y[i] = a * x[i] + y[i];
}

__attribute__((reqd_work_group_size(64, 1, 1)))
kernel void reduce(global const float *x, global float *out, local float *t) {
  size_t l = get_local_id(0);
  t[l] = x[get_global_id(0)];
#pragma unroll 1
  for (size_t s = 32; s > 0; s /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < s)
      t[l] += t[l + s];
  }
  if (l == 0)
    out[get_group_id(0)] = t[0];
}
