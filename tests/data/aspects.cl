// Source of aspects.spv; see README.md beside it.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

kernel void needs(global double *d, global half *h, global long *l) {
  size_t i = get_global_id(0);
  d[i] += h[i];
  h[i] *= 2;
  atom_add(l, 1);
}
