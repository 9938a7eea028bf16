// Source of the device-* samples; see README.md beside it.
#ifdef __clang__
// clang alone has no header for these.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#ifdef __HIP__
#define THREAD __builtin_amdgcn_workitem_id_x()
#define BLOCK __builtin_amdgcn_workgroup_id_x()
#define __syncthreads() __builtin_amdgcn_s_barrier()
#else
#define THREAD __nvvm_read_ptx_sreg_tid_x()
#define BLOCK __nvvm_read_ptx_sreg_ctaid_x()
#endif
#else
#define THREAD threadIdx.x
#define BLOCK blockIdx.x
#endif

__constant__ float weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__device__ float bias = 0.5f;
extern __shared__ float scratch[];

struct Box {
  float low, high;
  char tag;
};

extern "C" __global__ void saxpy(float a, const float *x, float *y, unsigned n) {
  unsigned i = BLOCK * 128 + THREAD;
  if (i < n)
    y[i] = a * x[i] + y[i];
}

extern "C" __global__ void __launch_bounds__(256, 2) clip(Box box, double *x, short n) {
  __shared__ double tile[64];
  int l = THREAD % 64;
  tile[l] = x[THREAD];
  scratch[THREAD] = bias;
  __syncthreads();
  if (l < n)
    x[THREAD] = tile[63 - l] < box.low ? box.low * weights[l % 8] : box.high + scratch[l];
}

extern "C" __global__ void stacked(const int *at, float *out, int n) {
  float many[40];
#pragma unroll 1
  for (int i = 0; i < 40; i++)
    many[i] = out[i];
#pragma unroll 1
  for (int i = 0; i < n; i++)
    many[at[i] % 40] += 1.0f;
#pragma unroll 1
  for (int i = 0; i < 40; i++)
    out[i] = many[at[i] % 40];
}
