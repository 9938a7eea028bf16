/* What kernels print with, as images have it, for one work-item at a time */
static unsigned global_id;
#define GLOBAL
#define CONSTANT
#define SHARED
/* A work-item that has failed goes on. */
#define NORETURN
#define FENCE() __atomic_thread_fence(__ATOMIC_RELEASE)
#define LEAVE() (void)0
#define ALIGNMENT(size) (size)
#define GROUP_ID(d) 0
#define GROUP_SIZE(d, index) 1
#define LOCAL_ID(d) (#d[0] == 'x' ? global_id : 0)
#define __MEMORY_SCOPE_DEVICE
#define __scoped_atomic_load_n(p, order, scope) __atomic_load_n(p, order)
#define __scoped_atomic_store_n(p, value, order, scope) __atomic_store_n(p, value, order)
#define __scoped_atomic_fetch_add(p, value, order, scope) __atomic_fetch_add(p, value, order)
#define __scoped_atomic_compare_exchange_n(p, old, value, weak, order, failed, scope) \
    __atomic_compare_exchange_n(p, old, value, weak, order, failed)
#define vprintf device_vprintf
#define __assert_fail device_assert_fail
#include "../../offload-build/src/compile/device/device_output.c"
#undef vprintf
struct ring *__offload_output;
const char *__offload_output_kernel;
