/* assert of kernels, as in C: included again it follows NDEBUG again. */
#undef assert
#ifdef NDEBUG
#define assert(...) ((void)0)
#elif defined(__OFFLOAD_OPENCL_C__)
/* `#ifdef` is left to the device, `#if` is decided where includes are merged. Where offload-rt has no memory that a kernel
 * can write to without an argument, the driver prints. */
#ifdef __OFFLOAD_FAILURES
#define assert(...) ((__VA_ARGS__) ? (void)0 : __offload_assert_fail(#__VA_ARGS__, __FILE__, __LINE__, __func__))
#else
#define assert(...)                                                                                      \
  ((__VA_ARGS__) ? (void)0                                                                               \
                 : (void)printf("%s:%d: assertion `%s` failed in work-item (%d, %d, %d)\n", __FILE__, __LINE__, \
                                #__VA_ARGS__, (int)get_global_id(0), (int)get_global_id(1), (int)get_global_id(2)))
#endif
#elif defined(__OPENCL_C_VERSION__) || defined(__OPENCL_CPP_VERSION__)
#define assert(...) ((__VA_ARGS__) ? (void)0 : __offload_assert_fail(#__VA_ARGS__, __FILE__, __LINE__, __func__))
#else
#define assert(...) ((__VA_ARGS__) ? (void)0 : __assert_fail(#__VA_ARGS__, __FILE__, __LINE__, __func__))
#endif

#ifndef __OFFLOAD_ASSERT_H
#define __OFFLOAD_ASSERT_H
#ifdef __cplusplus
extern "C" {
#endif
#if defined(__OFFLOAD_OPENCL_C__)
/* Merging includes takes none that a device alone would come to. */
#include <offload_failures.h>
#ifdef __OFFLOAD_FAILURES
/* `__OFFLOAD_FAILURES` is the address of the memory; the kernel's name is left to offload-rt. */
void __offload_assert_fail(__constant const char *condition, __constant const char *file, unsigned int line,
                           __constant const char *function);
void __offload_assert_fail(__constant const char *condition, __constant const char *file, unsigned int line,
                           __constant const char *function) {
  __offload_put_failure((__global struct __offload_failures *)__OFFLOAD_FAILURES, condition, file, line, function, "");
}
#endif
#elif defined(__OPENCL_C_VERSION__) || defined(__OPENCL_CPP_VERSION__)
void __offload_assert_fail(__constant const char *condition, __constant const char *file, unsigned int line,
                           __constant const char *function);
#elif defined(__CUDA__) || defined(__HIP__)
__attribute__((device)) void __assert_fail(const char *condition, const char *file, unsigned int line,
                                           const char *function);
/* Functions for the host are checked, and left out. */
__attribute__((host)) void __assert_fail(const char *condition, const char *file, unsigned int line,
                                         const char *function) noexcept;
#else
void __assert_fail(const char *condition, const char *file, unsigned int line, const char *function);
#endif
#ifdef __cplusplus
}
#endif
#endif
