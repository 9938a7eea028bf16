/* printf of OpenCL C 1.2 (https://registry.khronos.org/OpenCL/specs/opencl-1.2.pdf, 6.12.13) for the target `host`.
 *
 * PoCL's own expects a pass of its compiler to rewrite the calls, and differs from release to release. Single values
 * are formatted by the C library's snprintf; what OpenCL C adds are vectors, as `%v4hld`.
 */
#ifdef __OFFLOAD_MS_ABI
typedef __builtin_ms_va_list va_list;
#define VARIADIC __attribute__((ms_abi))
#define va_start __builtin_ms_va_start
#define va_end __builtin_ms_va_end
#elif defined(__OFFLOAD_APPLE_VARIADIC)
/* Callers and this function are compiled for Linux, and code is generated for Apple's AArch64, which passes all of these
 * arguments in memory, at multiples of 8 or 16, and whose list is one pointer
 * (https://developer.apple.com/documentation/xcode/writing-arm64-code-for-apple-platforms). Larger vectors are pointers. */
typedef struct { char *next; __builtin_va_list of_linux; } va_list;
#define VARIADIC
#define va_start(list, last) \
  (__builtin_va_start((list).of_linux, last), __builtin_memcpy(&(list).next, &(list).of_linux, sizeof(char *)))
#define va_end(list) __builtin_va_end((list).of_linux)
static void *take_argument(va_list *list, u64 size) {
  u64 slot = size > 8 ? 16 : 8;
  char *at = (char *)(((u64)list->next + slot - 1) & -slot);
  list->next = at + slot;
  return at;
}
#define va_arg(list, type)                                               \
  (*(type *)(sizeof(type) > 16 ? *(void **)take_argument(&(list), 8) : take_argument(&(list), sizeof(type))))
#else
typedef __builtin_va_list va_list;
#define VARIADIC
#define va_start __builtin_va_start
#define va_end __builtin_va_end
#endif
#ifndef va_arg
#define va_arg(list, type) __builtin_va_arg(list, type)
#endif
typedef __SIZE_TYPE__ size_t;
int snprintf(char *, size_t, const char *, ...);

/* One conversion of a format. */
struct conversion {
  char start[24]; /* the percent sign, flags, width and precision */
  u64 start_size;
  u32 elements;  /* of a vector, or 1 */
  u32 bytes;     /* of an element */
  char kind;
};

static int is_one_of(char c, const char *set) {
  for (; *set; ++set)
    if (*set == c) return 1;
  return 0;
}

static int is_real(char kind) { return is_one_of(kind, "fFeEgGaA"); }

/* Appends to the buffer; what does not fit is printed first. */
static void put(const char *text, u64 size) {
  for (u64 at = 0; at < size; ++at) {
    if (__offload_state_print_size == PRINT_CAPACITY) flush();
    __offload_state_print_buffer[__offload_state_print_size++] = text[at];
  }
}

static void put_string(const char *text) {
  u64 size = 0;
  while (text[size]) ++size;
  put(text, size);
}

/* Formats one value, which is both given as an integer and as a real number. */
static void put_value(const struct conversion *c, u64 integer, double real) {
  char format[32], text[512];
  u64 end = 0;
  for (; end < c->start_size; ++end) format[end] = c->start[end];
  if (is_one_of(c->kind, "diouxX")) format[end++] = 'l', format[end++] = 'l';
  format[end++] = c->kind;
  format[end] = 0;
  if (c->kind == 's' && c->start_size == 1) {
    put_string((const char *)integer);
    return;
  }
  int size;
  if (is_real(c->kind)) size = snprintf(text, sizeof text, format, real);
  else if (is_one_of(c->kind, "sp")) size = snprintf(text, sizeof text, format, (const void *)integer);
  else if (c->kind == 'c') size = snprintf(text, sizeof text, format, (int)integer);
  else size = snprintf(text, sizeof text, format, integer);
  if (size > 0) put(text, (u64)size < sizeof text ? (u64)size : sizeof text - 1);
}

/* The value of an integer of this size, with its sign or without. */
static u64 cut(const struct conversion *c, u64 value) {
  u32 unused = 64 - c->bytes * 8;
  return is_one_of(c->kind, "di") ? (u64)((long long)(value << unused) >> unused) : value << unused >> unused;
}

#define VECTOR(type, n) typedef type type##n __attribute__((ext_vector_type(n)));
#define VECTORS(type) VECTOR(type, 2) VECTOR(type, 3) VECTOR(type, 4) VECTOR(type, 8) VECTOR(type, 16)
VECTORS(char) VECTORS(short) VECTORS(int) VECTORS(long) VECTORS(float) VECTORS(double)

#define TAKE(type, n, out)                                     \
  case n: {                                                    \
    type##n v = va_arg(*args, type##n);                        \
    for (u32 i = 0; i < n; ++i) out[i] = v[i];                 \
    break;                                                     \
  }
#define TAKE_VECTOR(type, out)                                                                              \
  switch (c->elements) {                                                                                    \
    TAKE(type, 2, out) TAKE(type, 3, out) TAKE(type, 4, out) TAKE(type, 8, out) TAKE(type, 16, out)         \
  }

static void put_vector(const struct conversion *c, va_list *args) {
  u64 integers[16] = {0};
  double reals[16] = {0};
  if (is_real(c->kind)) {
    if (c->bytes == 8) { TAKE_VECTOR(double, reals) } else { TAKE_VECTOR(float, reals) }
  } else {
    switch (c->bytes) {
      case 1: TAKE_VECTOR(char, integers) break;
      case 2: TAKE_VECTOR(short, integers) break;
      case 8: TAKE_VECTOR(long, integers) break;
      default: TAKE_VECTOR(int, integers)
    }
  }
  for (u32 i = 0; i < c->elements; ++i) {
    if (i) put(",", 1);
    put_value(c, cut(c, integers[i]), reals[i]);
  }
}

static void put_scalar(const struct conversion *c, va_list *args) {
  if (is_real(c->kind)) put_value(c, 0, va_arg(*args, double));
  else if (is_one_of(c->kind, "sp")) put_value(c, va_arg(*args, u64), 0);
  else if (c->bytes == 8) put_value(c, va_arg(*args, u64), 0);
  else put_value(c, cut(c, va_arg(*args, u32)), 0);
}

/* Reads what follows a percent sign; returns where it ends, or null. */
static const char *parse(const char *at, struct conversion *c) {
  *c = (struct conversion){.start = "%", .start_size = 1, .elements = 1, .bytes = 4};
  while (is_one_of(*at, "-+ #0123456789.") && c->start_size < sizeof c->start) c->start[c->start_size++] = *at++;
  if (*at == 'v') {
    for (c->elements = 0, ++at; *at >= '0' && *at <= '9' && c->elements < 100; ++at)
      c->elements = c->elements * 10 + (u32)(*at - '0');
  }
  if (at[0] == 'h' && at[1] == 'h') c->bytes = 1, at += 2;
  else if (at[0] == 'h' && at[1] == 'l') at += 2;
  else if (at[0] == 'h') c->bytes = 2, ++at;
  else if (at[0] == 'l') c->bytes = 8, ++at;
  c->kind = *at;
  int vector = c->elements == 2 || c->elements == 3 || c->elements == 4 || c->elements == 8 || c->elements == 16;
  int known = is_real(c->kind) || is_one_of(c->kind, "diouxXcsp");
  return known && (vector || c->elements == 1) ? at + 1 : 0;
}

/* The name that kernels call. 0 for success, -1 for a format that is not OpenCL C's. */
VARIADIC int __offload_printf(const char *format, ...) {
  va_list args;
  va_start(args, format);
  int result = 0;
  while (*format) {
    const char *end = format;
    while (*end && *end != '%') ++end;
    put(format, (u64)(end - format));
    format = end;
    if (!*format) break;
    if (format[1] == '%') {
      put("%", 1);
      format += 2;
      continue;
    }
    struct conversion c;
    end = parse(format + 1, &c);
    if (!end) {
      result = -1;
      break;
    }
    if (c.elements == 1) put_scalar(&c, &args);
    else put_vector(&c, &args);
    format = end;
  }
  va_end(args);
  return result;
}
