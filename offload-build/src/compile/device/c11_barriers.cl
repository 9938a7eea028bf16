/* Barriers and fences of OpenCL C 2.0 and 3.0, which libclc up to release 22 lacks
 * (https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_C.html#synchronization-functions).
 */
void __attribute__((overloadable, convergent)) work_group_barrier(cl_mem_fence_flags flags) { barrier(flags); }
void __attribute__((overloadable)) atomic_work_item_fence(cl_mem_fence_flags flags, memory_order order,
                                                          memory_scope scope) {
  switch (scope) {
  case memory_scope_work_item: break;
  case memory_scope_device: __scoped_atomic_thread_fence(order, __MEMORY_SCOPE_DEVICE); break;
  case memory_scope_all_svm_devices: __scoped_atomic_thread_fence(order, __MEMORY_SCOPE_SYSTEM); break;
  default: __scoped_atomic_thread_fence(order, __MEMORY_SCOPE_WRKGRP);
  }
}
void __attribute__((overloadable, convergent)) work_group_barrier(cl_mem_fence_flags flags, memory_scope scope) {
  atomic_work_item_fence(flags, memory_order_acq_rel, scope);
  barrier(flags);
}
