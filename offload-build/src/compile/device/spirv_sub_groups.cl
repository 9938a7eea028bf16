/* Barriers of sub-groups, which LLVM 22's SPIR-V back end leaves undefined
 * (https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html#OpControlBarrier).
 */
#define SUB_GROUP 3
#define SEQUENTIALLY_CONSISTENT 16
void OVERLOAD __attribute__((convergent)) __spirv_ControlBarrier(uint, uint, uint);
void OVERLOAD INLINE sub_group_barrier(uint flags) {
  __spirv_ControlBarrier(SUB_GROUP, SUB_GROUP, (flags & 3) << 8 | SEQUENTIALLY_CONSISTENT);
}
void OVERLOAD INLINE sub_group_barrier(uint flags, memory_scope scope) {
  __spirv_ControlBarrier(SUB_GROUP, scope_of(scope), (flags & 3) << 8 | SEQUENTIALLY_CONSISTENT);
}
