/* Where assertions of SPIR-V fail, behind `spirv_builtins.h` and `offload_failures.h`. */
__global struct __offload_failures __offload_failures;

/* Of programs that offload-rt does not watch the driver prints. */
__attribute__((noinline)) void __offload_assertion(__constant const char *condition, __constant const char *file,
                                                   unsigned int line, __constant const char *function,
                                                   __constant const char *kernel_name) {
  __global struct __offload_failures *to = &__offload_failures;
  if (*(volatile __global unsigned int *)&to->watched)
    __offload_put_failure(to, condition, file, line, function, kernel_name);
  else
    printf("%s:%d: assertion `%s` failed in work-item (%d, %d, %d)\n", file, (int)line, condition,
           (int)get_global_id(0), (int)get_global_id(1), (int)get_global_id(2));
}

/* What the kernel does that offload-rt launches to read: the record goes to `out`, and the program is watched. */
void __offload_take_failures(__global unsigned int *out) {
  __global unsigned int *from = (__global unsigned int *)&__offload_failures;
  atomic_xchg(&__offload_failures.watched, 1);
  out[0] = *(volatile __global unsigned int *)from;
  out[1] = ((volatile __global unsigned int *)from)[1];
  if (out[1] != __OFFLOAD_WHOLE) return;
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  for (unsigned int i = 2; i < sizeof(struct __offload_failures) / 4; ++i) out[i] = from[i];
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  atomic_xchg(&__offload_failures.slot, __OFFLOAD_FREE);
}
