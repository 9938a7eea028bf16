/* A failed assertion on an OpenCL device, which offload-rt reads when somebody waits (offload-rt/src/opencl/failures.rs).
 *
 * `failed` counts. The first that finds `slot` 0 writes its message, and says so with 2; the reader sets it to 0 again.
 */
#ifndef __OFFLOAD_FAILURES_H
#define __OFFLOAD_FAILURES_H
struct __offload_failures {
  unsigned int failed, slot, watched, line, id[3], unused;
  char text[992];
};
enum { __OFFLOAD_FREE = 0, __OFFLOAD_TAKEN = 1, __OFFLOAD_WHOLE = 2 };

/* At most `most` characters and a zero; returns where the next text is. */
unsigned int __offload_put_text(__global char *text, unsigned int at, __constant const char *from, unsigned int most);
unsigned int __offload_put_text(__global char *text, unsigned int at, __constant const char *from, unsigned int most) {
  for (unsigned int i = 0; i < most && from[i]; ++i) text[at++] = from[i];
  text[at++] = 0;
  return at;
}

void __offload_put_failure(__global struct __offload_failures *to, __constant const char *condition,
                           __constant const char *file, unsigned int line, __constant const char *function,
                           __constant const char *kernel_name);
void __offload_put_failure(__global struct __offload_failures *to, __constant const char *condition,
                           __constant const char *file, unsigned int line, __constant const char *function,
                           __constant const char *kernel_name) {
  unsigned int at = 0;
  /* Before the count: who sees that has the message, or one of another failure. */
  if (atomic_cmpxchg(&to->slot, __OFFLOAD_FREE, __OFFLOAD_TAKEN) == __OFFLOAD_FREE) {
    to->line = line;
    for (int i = 0; i < 3; ++i) to->id[i] = (unsigned int)get_global_id(i);
    at = __offload_put_text(to->text, at, kernel_name, 220);
    at = __offload_put_text(to->text, at, function, 220);
    at = __offload_put_text(to->text, at, file, 220);
    at = __offload_put_text(to->text, at, condition, 320);
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_xchg(&to->slot, __OFFLOAD_WHOLE);
  }
  atomic_inc(&to->failed);
}
#endif
