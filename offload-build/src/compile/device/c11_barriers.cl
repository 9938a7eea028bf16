/* Barriers and fences of OpenCL C 2.0 and 3.0, which libclc up to release 22 lacks
 * (https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_C.html#synchronization-functions).
 */
/* clang has a fence with a scope since release 20; before, each target has its own, of the strongest order. */
#if __has_builtin(__scoped_atomic_thread_fence)
#define FENCE_IN(order, scope, nvptx, amdgcn) __scoped_atomic_thread_fence(order, scope)
#elif defined(__NVPTX__)
#define FENCE_IN(order, scope, nvptx, amdgcn) __nvvm_membar_##nvptx()
#else
#define FENCE_IN(order, scope, nvptx, amdgcn) __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, amdgcn)
#endif
void __attribute__((overloadable, convergent)) work_group_barrier(cl_mem_fence_flags flags) { barrier(flags); }
void __attribute__((overloadable)) atomic_work_item_fence(cl_mem_fence_flags flags, memory_order order,
                                                          memory_scope scope) {
  switch (scope) {
  case memory_scope_work_item: break;
  case memory_scope_device: FENCE_IN(order, __MEMORY_SCOPE_DEVICE, gl, "agent"); break;
  case memory_scope_all_svm_devices: FENCE_IN(order, __MEMORY_SCOPE_SYSTEM, sys, ""); break;
  default: FENCE_IN(order, __MEMORY_SCOPE_WRKGRP, cta, "workgroup");
  }
}
void __attribute__((overloadable, convergent)) work_group_barrier(cl_mem_fence_flags flags, memory_scope scope) {
  atomic_work_item_fence(flags, memory_order_acq_rel, scope);
  barrier(flags);
}
