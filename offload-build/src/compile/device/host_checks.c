
/* What tells the program of accesses of memory, barriers and arithmetic before they happen (offload-workgroup), if it has set
 * the variable. `offload-rt/src/host/checks.rs` has the types of its functions. Each takes the position of the work-item
 * in its group, and the place of the source; those that return an address say where the access is to go. */
struct offload_by {
  u64 item[3];
  const void *site;
};
struct offload_part {
  void *base;
  u64 size;
  const char *name;
};
struct offload_checks {
  void *(*access)(void *address, void *base, u64 size, const struct offload_by *by);
  void *(*outside)(void *address, u64 size, const struct offload_part *part, const struct offload_by *by);
  void (*array)(void *start, u64 size, const char *name);
  void (*wait)(u32 flags, const struct offload_by *by);
  void (*overflow)(long long a, long long b, const struct offload_by *by);
};
const struct offload_checks *__offload_checks __attribute__((visibility("default"))) = 0;
static struct offload_by __offload_state_by;
static struct offload_part __offload_state_part;

#define CHECKS (*(const struct offload_checks *volatile *)&__offload_checks)
static INLINE const struct offload_by *by(const void *site) {
  __offload_state_by.item[0] = PICK(__offload_state_local_id, 0, 0);
  __offload_state_by.item[1] = PICK(__offload_state_local_id, 1, 0);
  __offload_state_by.item[2] = PICK(__offload_state_local_id, 2, 0);
  __offload_state_by.site = site;
  return &__offload_state_by;
}

/* An access of memory that all work-items can reach. `base` lies in what is meant. */
INLINE void *__offload_access(void *address, void *base, u64 size, const void *site) {
  const struct offload_checks *checks = CHECKS;
  return checks ? checks->access(address, base, size, by(site)) : address;
}

/* An access of a variable of `object` bytes at `base`, or of a row of an array, whose name is null. */
INLINE void *__offload_inside(void *address, void *base, u64 object, u64 size, const char *name, const void *site) {
  u64 offset = (u64)address - (u64)base;
  if (offset <= object && size <= object - offset) return address;
  const struct offload_checks *checks = CHECKS;
  if (!checks) return address;
  __offload_state_part = (struct offload_part){base, object, name};
  return checks->outside(address, size, &__offload_state_part, by(site));
}

/* The same of a row, unless another check has said that the access is wrong. */
INLINE void *__offload_in_row(void *checked, void *address, void *row, u64 object, u64 size, const void *site) {
  return checked == address ? __offload_inside(address, row, object, size, 0, site) : checked;
}

INLINE void __offload_array(void *start, u64 size, const char *name) {
  const struct offload_checks *checks = CHECKS;
  if (checks) checks->array(start, size, name);
}

INLINE void __offload_waits(u32 flags, const void *site) {
  const struct offload_checks *checks = CHECKS;
  if (checks) checks->wait(flags, by(site));
}

#define ARITHMETIC(name)                                                                           \
  INLINE void __offload_##name(long long a, long long b, u32 is_long, const void *site) {          \
    long long result;                                                                              \
    int is_wrong = __builtin_##name##_overflow(a, b, &result);                                     \
    if (!is_wrong && (is_long || result == (int)result)) return;                                   \
    const struct offload_checks *checks = CHECKS;                                                  \
    if (checks) checks->overflow(a, b, by(site));                                              \
  }
ARITHMETIC(add)
ARITHMETIC(sub)
ARITHMETIC(mul)
