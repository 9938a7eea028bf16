/* assert of kernels for the target `host`: the message goes to the runtime, and the group is left where it is.
 *
 * `_setjmp` and `_longjmp` save no signal mask, so that they cost a few stores for each group; only images that assert
 * have this function, and the runtime calls their kernels through it.
 */
typedef __SIZE_TYPE__ size_t;
int snprintf(char *, size_t, const char *, ...);
int _setjmp(void *) __attribute__((returns_twice));
void _longjmp(void *, int) __attribute__((noreturn));

/* What the function that runs a group returns then. */
enum { FAILED = 1 << 30 };
/* Larger than any C library's. */
static u64 __offload_state_jump[128];
static char *__offload_state_message;
static u64 __offload_state_message_size;

typedef u32 run_group(const struct offload_group *, void *const *, const u64 *, const u64 *);

__attribute__((visibility("default"), noinline)) u32 __offload_guarded(run_group *run, const struct offload_group *group,
                                                                       void *const *args, const u64 *first,
                                                                       const u64 *last, char *message, u64 size) {
  __offload_state_message = message;
  __offload_state_message_size = size;
  if (_setjmp(__offload_state_jump)) {
    __offload_end();
    return FAILED;
  }
  return run(group, args, first, last);
}

struct assertion {
  const char *condition, *file, *function;
  u32 line;
  u64 x, y, z;
};

static __attribute__((noinline)) void fail(const struct assertion *a) {
  /* Where this project includes a source it says so. */
  const char *file = a->file[0] == '.' && a->file[1] == '/' ? a->file + 2 : a->file;
  snprintf(__offload_state_message, __offload_state_message_size,
           "assertion `%s` failed in work-item (%llu, %llu, %llu): %s:%u, in `%s`", a->condition, a->x, a->y, a->z,
           file, a->line, a->function);
  _longjmp(__offload_state_jump, 1);
}

INLINE void __offload_assert_fail(const char *condition, const char *file, u32 line, const char *function) {
  struct assertion a = {condition, file, function, line, ID(0), ID(1), ID(2)};
  fail(&a);
}
