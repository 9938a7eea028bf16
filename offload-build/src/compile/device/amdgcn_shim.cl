// Work-item functions that LLVM's libclc up to release 22 reads from where code objects before version 5 had them
// (https://llvm.org/docs/AMDGPUUsage.html#amdgpu-amdhsa-code-object-kernel-argument-metadata-map-table-v5: the hidden
// arguments; fixed by https://github.com/llvm/llvm-project/pull/184885). Without this every global id is shifted.

#define OVERLOAD __attribute__((overloadable, const))

// Offsets from the first hidden argument. The builtin for the size of a group would read a control variable that only
// AMD's own device libraries define.
#define HIDDEN_GROUP_SIZE 12
#define HIDDEN_GLOBAL_OFFSET 40
#define HIDDEN_GRID_DIMS 64

size_t OVERLOAD get_global_offset(uint dimension) {
  const __constant ulong *offsets =
      (const __constant ulong *)((const __constant char *)__builtin_amdgcn_implicitarg_ptr() + HIDDEN_GLOBAL_OFFSET);
  return dimension < 3 ? offsets[dimension] : 0;
}

uint OVERLOAD get_work_dim(void) {
  return *(const __constant ushort *)((const __constant char *)__builtin_amdgcn_implicitarg_ptr() + HIDDEN_GRID_DIMS);
}

size_t OVERLOAD get_global_id(uint dimension) {
  const __constant ushort *sizes =
      (const __constant ushort *)((const __constant char *)__builtin_amdgcn_implicitarg_ptr() + HIDDEN_GROUP_SIZE);
  size_t group, item;
  switch (dimension) {
  case 0:
    group = __builtin_amdgcn_workgroup_id_x();
    item = __builtin_amdgcn_workitem_id_x();
    break;
  case 1:
    group = __builtin_amdgcn_workgroup_id_y();
    item = __builtin_amdgcn_workitem_id_y();
    break;
  case 2:
    group = __builtin_amdgcn_workgroup_id_z();
    item = __builtin_amdgcn_workitem_id_z();
    break;
  default:
    return 0;
  }
  return group * sizes[dimension] + item + get_global_offset(dimension);
}

// libclc's waits for events in the memory of another address space than clang's.
void __attribute__((overloadable)) wait_group_events(int count, __private event_t *events) {
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}
