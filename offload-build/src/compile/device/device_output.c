/* printf and assert of kernels for NVIDIA and AMD GPUs: messages go to a ring of words in the device's memory, which
 * offload-rt makes when it loads the image, and reads when somebody waits (offload-rt/src/output).
 *
 * `taken` and `read` count words since the beginning. A message takes its words with one exchange, so that none is torn
 * or overwritten; one for which there is no room is counted in `lost`. Its first word comes last, with COMMITTED set.
 */
typedef unsigned int u32;
typedef unsigned long long u64;

struct ring {
  u64 taken, read;
  u32 lost, failed, words, unused;
  u32 content[];
};

/* The stand-in for CUDA's driver in the tests of offload-rt has its own. */
#ifndef GLOBAL
#define GLOBAL __attribute__((address_space(1)))
#define CONSTANT __attribute__((address_space(4)))
#define SHARED __attribute__((address_space(3)))
#define NORETURN __attribute__((cold, noreturn))
#endif

enum { COMMITTED = 1u << 31, LONGEST = 1u << 20, PRINTED = 1, FAILED = 2 };

#if defined(__NVPTX__)
#define FENCE() __nvvm_membar_gl()
#define LEAVE() \
  do { \
    __asm__ volatile("exit;"); \
    __builtin_unreachable(); \
  } while (0)
/* Where an argument of this size is in a list of arguments. */
#define ALIGNMENT(size) (size)
#define GROUP_ID(d) __nvvm_read_ptx_sreg_ctaid_##d()
#define GROUP_SIZE(d, index) __nvvm_read_ptx_sreg_ntid_##d()
#define LOCAL_ID(d) __nvvm_read_ptx_sreg_tid_##d()
#elif defined(__AMDGCN__)
#define FENCE() __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent")
#define LEAVE() __builtin_amdgcn_endpgm()
#define ALIGNMENT(size) 4
#define GROUP_ID(d) __builtin_amdgcn_workgroup_id_##d()
/* Hidden arguments of code object version 5. */
#define GROUP_SIZE(d, index) \
  (((const CONSTANT unsigned short *)((const CONSTANT char *)__builtin_amdgcn_implicitarg_ptr() + 12))[index])
#define LOCAL_ID(d) __builtin_amdgcn_workitem_id_##d()
#endif

/* offload-rt writes it; the module that prints defines it. */
extern struct ring GLOBAL *GLOBAL __offload_output;
#ifdef OFFLOAD_LIBRARY
/* A library that is linked when it is loaded does not know the kernel. */
#define KERNEL_NAME ((const char *)0)
#else
/* The name of the kernel that runs; modules that assert define it, and their kernels write it. */
extern const char GLOBAL *SHARED __offload_output_kernel;
#define KERNEL_NAME ((const char *)__offload_output_kernel)
#endif

/* A message, which is counted first and then written. */
struct message {
  u32 GLOBAL *content; /* null while it is counted */
  u64 at;
  u32 mask, words;
};

static void put(struct message *m, u32 word) {
  if (m->content) m->content[(m->at + m->words) & m->mask] = word;
  ++m->words;
}

/* `size` bytes, padded to words. */
static void put_bytes(struct message *m, const char *bytes, u32 size) {
#pragma nounroll
  for (u32 at = 0; at < size; at += 4) {
    u32 word = 0;
    if (m->content)
#pragma nounroll
      for (u32 i = 0; i < 4 && at + i < size; ++i) word |= (u32)(unsigned char)bytes[at + i] << (8 * i);
    put(m, word);
  }
}

static void put_string(struct message *m, const char *text) {
  u32 size = 0;
  if (!text) {
    put(m, ~0u);
    return;
  }
#pragma nounroll
  while (text[size] && size < LONGEST) ++size;
  put(m, size);
  put_bytes(m, text, size);
}

static u32 digits(const char **at) {
  u32 number = 0;
  for (; **at >= '0' && **at <= '9'; ++*at) number = number < 100 ? number * 10 + (u32)(**at - '0') : number;
  return number;
}

/* The arguments of a call of printf. */
struct list {
  const char *start;
  u64 offset;
  int strings_in_constant_memory;
};

static const char *next(struct list *list, u32 size) {
  u64 alignment = ALIGNMENT(size);
  list->offset = (list->offset + alignment - 1) / alignment * alignment;
  const char *at = list->start + list->offset;
  list->offset += size;
  return at;
}

static void put_argument(struct message *m, struct list *list, u32 size) { put_bytes(m, next(list, size), size); }

/* The values of `format`, in its order. offload-rt/src/output/format.rs reads formats in the same way. */
static void put_arguments(struct message *m, const char *format, struct list *list) {
  while (*format) {
    if (*format++ != '%') continue;
    if (*format == '%') {
      ++format;
      continue;
    }
    for (;; ++format) {
      if (*format == '*') put_argument(m, list, 4);
      else if (*format != '-' && *format != '+' && *format != ' ' && *format != '#' && *format != '.' &&
               (*format < '0' || *format > '9'))
        break;
    }
    u32 elements = 1, bytes = 4;
    if (*format == 'v') ++format, elements = digits(&format);
    if (format[0] == 'h' && format[1] == 'h') bytes = 1, format += 2;
    else if (format[0] == 'h' && format[1] == 'l') format += 2;
    else if (format[0] == 'h') bytes = 2, ++format;
    else if (format[0] == 'l' && format[1] == 'l') bytes = 8, format += 2;
    else if (*format == 'l' || *format == 'z' || *format == 'j' || *format == 't') bytes = 8, ++format;
    char kind = *format;
    if (!kind) return;
    ++format;
    int real = kind == 'f' || kind == 'F' || kind == 'e' || kind == 'E' || kind == 'g' || kind == 'G' ||
               kind == 'a' || kind == 'A';
    if (elements != 1) {
      put_argument(m, list, bytes * (elements == 3 ? 4 : elements));
    } else if (kind == 's') {
      u64 address = *(const u64 *)next(list, 8);
      const char *text = list->strings_in_constant_memory ? (const char *)(const char CONSTANT *)address
                                                          : (const char *)address;
      put_string(m, address ? text : 0);
    } else {
      put_argument(m, list, real || kind == 'p' ? 8 : bytes < 4 ? 4 : bytes);
    }
  }
}

static int take(struct ring GLOBAL *ring, struct message *m) {
  u64 at = __scoped_atomic_load_n(&ring->taken, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  u32 words = m->words, capacity = ring->words;
  do {
    u64 used = at - __scoped_atomic_load_n(&ring->read, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    if (words > LONGEST || used + words > capacity) {
      __scoped_atomic_fetch_add(&ring->lost, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
      return 0;
    }
  } while (!__scoped_atomic_compare_exchange_n(&ring->taken, &at, at + words, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                               __MEMORY_SCOPE_DEVICE));
  *m = (struct message){.content = ring->content, .at = at, .mask = capacity - 1};
  return 1;
}

static void commit(struct message *m) {
  FENCE();
  __scoped_atomic_store_n(&m->content[m->at & m->mask], COMMITTED | m->words, __ATOMIC_RELAXED,
                          __MEMORY_SCOPE_DEVICE);
}

static void put_print(struct message *m, const char *format, struct list list) {
  put(m, 0);
  put(m, PRINTED);
  put_string(m, format);
  put_arguments(m, format, &list);
}

static __attribute__((noinline)) int print(const char *format, struct list list) {
  struct ring GLOBAL *ring = __offload_output;
  struct message m = {0};
  if (!ring || !format) return -1;
  put_print(&m, format, list);
  if (!take(ring, &m)) return -1;
  put_print(&m, format, list);
  commit(&m);
  return 0;
}

/* printf of OpenCL C, C and HIP C++, by the memory that the format is in. */
#define PRINTF(name, space, strings)                                 \
  int name(const char space *format, ...) {                          \
    __builtin_va_list args;                                          \
    __builtin_va_start(args, format);                                \
    int result = print((const char *)format, (struct list){(const char *)args, 0, strings}); \
    __builtin_va_end(args);                                          \
    return result;                                                   \
  }
PRINTF(__offload_printf_0, , 0)
PRINTF(__offload_printf_1, GLOBAL, 0)
PRINTF(__offload_printf_4, CONSTANT, 1)

/* What clang makes of printf for NVIDIA GPUs. */
int vprintf(const char *format, __builtin_va_list args) {
  return print(format, (struct list){(const char *)args, 0, 0});
}

struct assertion {
  const char *texts[4]; /* the kernel's name, the condition, the file, the function */
  u32 line;
};

static void put_assertion(struct message *m, const struct assertion *a) {
  put(m, 0);
  put(m, FAILED);
  put(m, a->line);
  put(m, GROUP_ID(x) * GROUP_SIZE(x, 0) + LOCAL_ID(x));
  put(m, GROUP_ID(y) * GROUP_SIZE(y, 1) + LOCAL_ID(y));
  put(m, GROUP_ID(z) * GROUP_SIZE(z, 2) + LOCAL_ID(z));
#pragma nounroll
  for (u32 i = 0; i < 4; ++i) put_string(m, a->texts[i]);
}

/* The work-item ends here; the launch has failed, whether there is room for the message or not. ptxas copies the code into
 * each kernel and gives the kernel as many registers as it needs: no loop is unrolled, and since it does not return, the
 * caller keeps nothing for afterwards. */
static NORETURN __attribute__((noinline)) void fail(struct assertion a) {
  struct ring GLOBAL *ring = __offload_output;
  if (ring) {
    struct message m = {0};
#pragma nounroll
    for (;;) {
      put_assertion(&m, &a);
      if (m.content) {
        commit(&m);
        break;
      }
      if (!take(ring, &m)) break;
    }
    __scoped_atomic_fetch_add(&ring->failed, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  }
  LEAVE();
}

#define ASSERT(name, space)                                                                                        \
  NORETURN void name(const char space *condition, const char space *file, u32 line, const char space *function) {  \
    const char *kernel = KERNEL_NAME;                                                                              \
    fail((struct assertion){{kernel, (const char *)condition, (const char *)file, (const char *)function}, line}); \
  }
ASSERT(__assert_fail, )
ASSERT(__offload_assert_fail_1, GLOBAL)
ASSERT(__offload_assert_fail_4, CONSTANT)

/* CUDA's own. */
NORETURN void __assertfail(const char *condition, const char *file, u32 line, const char *function, u64 character) {
  __assert_fail(condition, file, line, function);
}
