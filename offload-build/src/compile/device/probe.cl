// What front ends might treat in a way of their own: kinds of kernel arguments, memory, widths, atomics, control flow.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

typedef struct {
    float4 wide;
    char narrow;
    long number;
} Record;

__constant int table[4] = {1, 2, 3, 4};

static int helper(Record record, __private int *out) {
    *out = (int)record.number;
    return record.narrow % 3;
}

__kernel void probe(__global float *x, __local int *y, __constant uint *z, Record record, float4 a, double d, long n) {
    __local float shared[64];
    const size_t i = get_global_id(0);
    int out;
    switch (helper(record, &out)) {
    case 0:
        atomic_add(y, out);
        break;
    case 1:
        atomic_cmpxchg((volatile __global int *)x, table[out & 3], 2);
        break;
    default:
        shared[i & 63] = fma(a.x, x[i], convert_float(d));
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (int k = 0; k < n; k++)
        x[i] += shared[k & 63] / (float)z[k] + sqrt(a.y) * native_exp(a.z);
    x[i] = (float)((half)x[i] * (half)2) + (isnan(x[i]) ? popcount(n) : mul24(out, out));
}

__kernel __attribute__((reqd_work_group_size(8, 8, 1))) void probe_sized(__global char *x) {
    x[get_local_id(1) * get_local_size(0) + get_local_id(0)] = (char)get_work_dim();
}
