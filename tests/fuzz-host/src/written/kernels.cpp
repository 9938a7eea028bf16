//@ restrict_in_cpp cpp global=48 local=16 zeros=48 value=3
#include <gpuintrin.h>
extern "C" __gpu_kernel void restrict_in_cpp(__gpu_global unsigned *__restrict out, unsigned n) {
    unsigned lid = __gpu_thread_id(0), i = __gpu_block_id(0) * __gpu_num_threads(0) + lid, base = i - lid;
    if (lid == 5) out[base] = n;
    __gpu_sync_threads();
    unsigned a = out[base];
    __gpu_sync_threads();
    if (lid == 3) out[base] = a + 100;
    __gpu_sync_threads();
    unsigned b = out[base] * 3 + a;
    __gpu_sync_threads();
    out[i] = b;
}

//@ atomic_store_first cpp global=48 local=16 zeros=48 value=3
// An atomic store is the first access of local memory.
#include <gpuintrin.h>
static __gpu_local unsigned atomic_store_first_t[2];
extern "C" __gpu_kernel void atomic_store_first(__gpu_global unsigned *out, unsigned n) {
    unsigned lid = __gpu_thread_id(0), i = __gpu_block_id(0) * __gpu_num_threads(0) + lid;
    if (lid < 2) __scoped_atomic_store_n(&atomic_store_first_t[lid], n, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
    __gpu_sync_threads();
    unsigned a = __scoped_atomic_fetch_add(&atomic_store_first_t[1], lid, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
    __gpu_sync_threads();
    out[i] = __scoped_atomic_load_n(&atomic_store_first_t[1], __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP) + (a < 1000);
}
