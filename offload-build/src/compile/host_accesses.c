
/* Tells the program of an access before it happens (ir/accesses.rs), if it has set the variable: where, how many bytes, at
 * which place of the source, and the global number of the work-item. */
typedef void offload_check(const void *address, u64 size, const void *site, const u64 item[3]);
offload_check *__offload_check __attribute__((visibility("default"))) = 0;
static u64 __offload_state_told[3];
INLINE void __offload_access(const void *address, u64 size, const void *site) {
  offload_check *check = *(offload_check *volatile *)&__offload_check;
  if (!check) return;
  __offload_state_told[0] = ID(0), __offload_state_told[1] = ID(1), __offload_state_told[2] = ID(2);
  check(address, size, site, __offload_state_told);
}
