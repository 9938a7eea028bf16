/* The executor's runtime: each work-item of a group is a coroutine that runs to its next barrier.
 *
 * runtime BATCH RESULTS: reads launches from BATCH (batch.rs writes it) and appends to RESULTS. Each case runs in a process
 * of its own, three times: work-items and groups in ascending order, in descending order, and shuffled anew in each
 * interval between barriers. What a work-item may not read (local memory and stacks that nothing has written) has another
 * content each time, so that a case which reads it gives different results, as one with a race does.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

typedef uint32_t u32;
typedef uint64_t u64;

enum { ORDERS = 3, STACK_SIZE = 1 << 16, MOST_SECONDS = 10 };
enum order { ASCENDING, DESCENDING, SHUFFLED };
enum state { READY, WAITING, ENDED };
enum kind { BUFFER, LOCAL, VALUE };

struct memory { u32 *words; u64 count; };
struct argument { enum kind kind; u64 buffer; struct memory memory; };
struct launch {
  u64 number, dimensions, offset[3], global[3], local[3];
  u64 buffers, args;
  struct memory *buffer;
  struct argument *arg;
};
struct item {
  ucontext_t context;
  char *stack;
  u64 id[3], site;
  enum state state;
};

/* The kernels of the batch, in its order. */
extern void (*const fuzz_entries[])(void *const *);
/* clang makes variables of `local` arrays. The linker puts those of the batch between these two, in the order of its
 * arguments; nothing else of a batch is a variable without an initial value. */
extern char executor_locals_start[], executor_locals_end[];

static struct launch launch;
static void *pointers[64];
static struct item *items, *current;
static u64 item_count, group[3], groups[3];
static ucontext_t scheduler;
static FILE *results;
static char *printed;
static u64 printed_size;

static void stop(const char *kind, const char *text) {
  fprintf(results, "%s %s\n", kind, text);
  fflush(results);
  _exit(0);
}

/* Work-item functions */

u64 executor_work_dim(void) { return launch.dimensions; }
u64 executor_local_id(u32 d) { return d < 3 ? current->id[d] : 0; }
u64 executor_group_id(u32 d) { return d < 3 ? group[d] : 0; }
u64 executor_local_size(u32 d) { return d < 3 ? launch.local[d] : 1; }
u64 executor_global_size(u32 d) { return d < 3 ? launch.global[d] : 1; }
u64 executor_num_groups(u32 d) { return d < 3 ? groups[d] : 1; }
u64 executor_global_offset(u32 d) { return d < 3 ? launch.offset[d] : 0; }

/* The chain of calls that has led to a barrier, as a number: work-items that meet have the same. */
static u64 call_chain(void) {
  u64 hash = 0;
  char **frame = __builtin_frame_address(0);
  char *end = current->stack + STACK_SIZE;
  while ((char *)frame >= current->stack && (char *)(frame + 2) <= end) {
    hash = hash * 0x100000001b3u + (u64)frame[1];
    frame = (char **)frame[0];
  }
  return hash;
}

void executor_barrier(void) {
  current->site = call_chain();
  current->state = WAITING;
  swapcontext(&current->context, &scheduler);
}

/* OpenCL C's printf, by the name that C++ has for it, too. */
int printf(const char *format, ...) {
  va_list values;
  char text[1024];
  va_start(values, format);
  int size = vsnprintf(text, sizeof text, format, values);
  va_end(values);
  if (size < 0 || (u64)size >= sizeof text) stop("invalid", "printf with a text of more than 1023 bytes");
  printed = realloc(printed, printed_size + (u64)size + 1);
  memcpy(printed + printed_size, text, (u64)size + 1);
  printed_size += (u64)size;
  return 0;
}

/* Memory */

/* Memory that ends where a page without access begins. Its start is aligned for vectors of 16 bytes. */
static u32 *guarded(u64 count) {
  u64 page = (u64)sysconf(_SC_PAGESIZE), bytes = (count * 4 + 15) / 16 * 16;
  u64 pages = (bytes + page - 1) / page * page;
  char *start = mmap(0, pages + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) stop("failed", "mmap");
  mprotect(start + page, pages, PROT_READ | PROT_WRITE);
  return (u32 *)(start + page + pages - bytes);
}

static struct memory initial_copy(struct memory initial) {
  struct memory copy = {guarded(initial.count), initial.count};
  if (initial.count) memcpy(copy.words, initial.words, initial.count * 4);
  return copy;
}

/* Orders */

static u64 shuffle_state;

static u64 below(u64 limit) {
  shuffle_state ^= shuffle_state << 13;
  shuffle_state ^= shuffle_state >> 7;
  shuffle_state ^= shuffle_state << 17;
  return shuffle_state % limit;
}

static void arrange(u64 *numbers, u64 count, enum order order) {
  for (u64 at = 0; at < count; ++at) numbers[at] = order == DESCENDING ? count - 1 - at : at;
  for (u64 at = count; order == SHUFFLED && at > 1; --at) {
    u64 other = below(at), kept = numbers[at - 1];
    numbers[at - 1] = numbers[other];
    numbers[other] = kept;
  }
}

/* Groups */

static void run_item(void) {
  fuzz_entries[launch.number](pointers);
  current->state = ENDED;
  setcontext(&scheduler);
}

static void start_items(int pattern) {
  for (u64 number = 0; number < item_count; ++number) {
    struct item *item = &items[number];
    memset(item->stack, pattern, STACK_SIZE);
    getcontext(&item->context);
    item->context.uc_stack.ss_sp = item->stack;
    item->context.uc_stack.ss_size = STACK_SIZE;
    item->context.uc_link = 0;
    makecontext(&item->context, run_item, 0);
    item->state = READY;
    item->id[0] = number % launch.local[0];
    item->id[1] = number / launch.local[0] % launch.local[1];
    item->id[2] = number / launch.local[0] / launch.local[1];
  }
}

/* Whether all have ended. Work-items that wait at different barriers, or for others that have ended, make the case
 * invalid. */
static int have_ended(void) {
  u64 ended = 0;
  for (u64 number = 0; number < item_count; ++number) ended += items[number].state == ENDED;
  if (ended == item_count) return 1;
  if (ended) stop("invalid", "work-items end while others of their group wait at a barrier");
  for (u64 number = 1; number < item_count; ++number)
    if (items[number].site != items[0].site) stop("invalid", "work-items of a group wait at different barriers");
  return 0;
}

static void run_group(enum order order, int pattern, u64 *numbers) {
  memset(executor_locals_start, pattern, (u64)(executor_locals_end - executor_locals_start));
  for (u64 at = 0; at < launch.args; ++at) {
    struct argument *arg = &launch.arg[at];
    if (arg->kind == LOCAL) memset(pointers[at], pattern, arg->memory.count * 4);
  }
  start_items(pattern);
  do {
    arrange(numbers, item_count, order);
    for (u64 at = 0; at < item_count; ++at) {
      current = &items[numbers[at]];
      current->state = READY;
      swapcontext(&scheduler, &current->context);
    }
  } while (!have_ended());
}

static void run_groups(enum order order, int pattern) {
  u64 group_count = groups[0] * groups[1] * groups[2];
  u64 *group_numbers = calloc(group_count, sizeof(u64)), *item_numbers = calloc(item_count, sizeof(u64));
  arrange(group_numbers, group_count, order);
  for (u64 at = 0; at < group_count; ++at) {
    u64 number = group_numbers[at];
    group[0] = number % groups[0];
    group[1] = number / groups[0] % groups[1];
    group[2] = number / groups[0] / groups[1];
    run_group(order, pattern, item_numbers);
  }
  free(group_numbers);
  free(item_numbers);
}

/* Cases */

static void write_run(const struct memory *buffers) {
  fprintf(results, "run\n");
  for (u64 number = 0; number < launch.buffers; ++number) {
    fprintf(results, "buffer");
    for (u64 at = 0; at < buffers[number].count; ++at) fprintf(results, " %x", buffers[number].words[at]);
    fprintf(results, "\n");
  }
  for (char *line = printed ? strtok(printed, "\n") : 0; line; line = strtok(0, "\n"))
    fprintf(results, "line %s\n", line);
}

static void run(enum order order) {
  static const int patterns[ORDERS] = {0xA5, 0x5A, 0x3C};
  struct memory *buffers = calloc(launch.buffers + 1, sizeof *buffers);
  for (u64 number = 0; number < launch.buffers; ++number) buffers[number] = initial_copy(launch.buffer[number]);
  for (u64 at = 0; at < launch.args; ++at) {
    struct argument *arg = &launch.arg[at];
    if (arg->kind == BUFFER) pointers[at] = buffers[arg->buffer].words;
    if (arg->kind == LOCAL) pointers[at] = guarded(arg->memory.count);
    if (arg->kind == VALUE) pointers[at] = initial_copy(arg->memory).words;
  }
  printed = 0;
  printed_size = 0;
  run_groups(order, patterns[order]);
  write_run(buffers);
}

static void run_case(void) {
  alarm(MOST_SECONDS);
  shuffle_state = 0x9e3779b97f4a7c15u + launch.number;
  item_count = launch.local[0] * launch.local[1] * launch.local[2];
  for (int d = 0; d < 3; ++d) groups[d] = launch.global[d] / launch.local[d];
  items = calloc(item_count, sizeof *items);
  for (u64 number = 0; number < item_count; ++number) items[number].stack = (char *)guarded(STACK_SIZE / 4);
  for (enum order order = ASCENDING; order <= SHUFFLED; ++order) run(order);
  stop("done", "");
}

/* The batch */

static u64 number_of(FILE *batch) {
  unsigned long long number;
  if (fscanf(batch, "%llu", &number) != 1) stop("failed", "the batch is cut off");
  return number;
}

static struct memory words_of(FILE *batch) {
  struct memory memory = {0, number_of(batch)};
  memory.words = calloc(memory.count + 1, 4);
  for (u64 at = 0; at < memory.count; ++at) memory.words[at] = (u32)number_of(batch);
  return memory;
}

static void read_argument(FILE *batch, struct argument *arg) {
  arg->kind = (enum kind)number_of(batch);
  if (arg->kind == BUFFER) arg->buffer = number_of(batch);
  if (arg->kind == LOCAL) arg->memory.count = number_of(batch);
  if (arg->kind == VALUE) arg->memory = words_of(batch);
}

static void read_launch(FILE *batch, u64 number) {
  launch.number = number;
  launch.dimensions = number_of(batch);
  for (int d = 0; d < 3; ++d) launch.offset[d] = number_of(batch);
  for (int d = 0; d < 3; ++d) launch.global[d] = number_of(batch);
  for (int d = 0; d < 3; ++d) launch.local[d] = number_of(batch);
  launch.buffers = number_of(batch);
  launch.buffer = calloc(launch.buffers + 1, sizeof *launch.buffer);
  for (u64 at = 0; at < launch.buffers; ++at) launch.buffer[at] = words_of(batch);
  launch.args = number_of(batch);
  if (launch.args > sizeof pointers / sizeof *pointers) stop("failed", "a kernel with more than 64 arguments");
  launch.arg = calloc(launch.args + 1, sizeof *launch.arg);
  for (u64 at = 0; at < launch.args; ++at) read_argument(batch, &launch.arg[at]);
}

static void run_apart(void) {
  fprintf(results, "case\n");
  fflush(results);
  pid_t child = fork();
  if (child == 0) run_case();
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) fprintf(results, "failed signal %d\n", WTERMSIG(status));
}

int main(int count, char **args) {
  if (executor_locals_end < executor_locals_start) return 2;
  FILE *batch = count == 3 ? fopen(args[1], "r") : 0;
  results = count == 3 ? fopen(args[2], "a") : 0;
  if (!batch || !results) return 2;
  u64 cases = number_of(batch);
  for (u64 number = 0; number < cases; ++number) {
    read_launch(batch, number);
    run_apart();
  }
  return fclose(results) != 0;
}
