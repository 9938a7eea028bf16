/* Functions of OpenCL C for the executor, as the specification words them, and slowly: one lane at a time, and plain
 * accesses for atomic ones, because one thread runs all work-items.
 */
#define FN __attribute__((overloadable))

/* Work-item functions */

ulong executor_work_dim(void);
ulong executor_local_id(uint);
ulong executor_group_id(uint);
ulong executor_local_size(uint);
ulong executor_global_size(uint);
ulong executor_num_groups(uint);
ulong executor_global_offset(uint);
void executor_barrier(void);

FN uint get_work_dim(void) { return (uint)executor_work_dim(); }
FN size_t get_local_id(uint d) { return executor_local_id(d); }
FN size_t get_group_id(uint d) { return executor_group_id(d); }
FN size_t get_local_size(uint d) { return executor_local_size(d); }
FN size_t get_enqueued_local_size(uint d) { return executor_local_size(d); }
FN size_t get_global_size(uint d) { return executor_global_size(d); }
FN size_t get_num_groups(uint d) { return executor_num_groups(d); }
FN size_t get_global_offset(uint d) { return executor_global_offset(d); }
FN size_t get_global_id(uint d) {
  return executor_global_offset(d) + executor_group_id(d) * executor_local_size(d) + executor_local_id(d);
}
FN size_t get_local_linear_id(void) {
  size_t row = get_local_id(2) * get_local_size(1) + get_local_id(1);
  return row * get_local_size(0) + get_local_id(0);
}
FN size_t get_global_linear_id(void) {
  size_t row = (get_global_id(2) - get_global_offset(2)) * get_global_size(1) + get_global_id(1) - get_global_offset(1);
  return row * get_global_size(0) + get_global_id(0) - get_global_offset(0);
}

FN void barrier(cl_mem_fence_flags flags) { executor_barrier(); }
FN void work_group_barrier(cl_mem_fence_flags flags) { executor_barrier(); }
FN void work_group_barrier(cl_mem_fence_flags flags, memory_scope scope) { executor_barrier(); }
FN void mem_fence(cl_mem_fence_flags flags) {}
FN void read_mem_fence(cl_mem_fence_flags flags) {}
FN void write_mem_fence(cl_mem_fence_flags flags) {}
FN void atomic_work_item_fence(cl_mem_fence_flags flags, memory_order order, memory_scope scope) {}

/* A function of vectors is that of their halves. */
#define HALVES_1(R, T, NAME)                                                                      \
  FN R##2 NAME(T##2 x) { return (R##2)(NAME(x.s0), NAME(x.s1)); }                                 \
  FN R##3 NAME(T##3 x) { return (R##3)(NAME(x.s01), NAME(x.s2)); }                                \
  FN R##4 NAME(T##4 x) { return (R##4)(NAME(x.lo), NAME(x.hi)); }                                 \
  FN R##8 NAME(T##8 x) { return (R##8)(NAME(x.lo), NAME(x.hi)); }
#define HALVES_2(T, NAME)                                                                         \
  FN T##2 NAME(T##2 x, T##2 y) { return (T##2)(NAME(x.s0, y.s0), NAME(x.s1, y.s1)); }             \
  FN T##3 NAME(T##3 x, T##3 y) { return (T##3)(NAME(x.s01, y.s01), NAME(x.s2, y.s2)); }           \
  FN T##4 NAME(T##4 x, T##4 y) { return (T##4)(NAME(x.lo, y.lo), NAME(x.hi, y.hi)); }             \
  FN T##8 NAME(T##8 x, T##8 y) { return (T##8)(NAME(x.lo, y.lo), NAME(x.hi, y.hi)); }
#define HALVES_3(T, NAME)                                                                                     \
  FN T##2 NAME(T##2 x, T##2 y, T##2 z) { return (T##2)(NAME(x.s0, y.s0, z.s0), NAME(x.s1, y.s1, z.s1)); }     \
  FN T##3 NAME(T##3 x, T##3 y, T##3 z) { return (T##3)(NAME(x.s01, y.s01, z.s01), NAME(x.s2, y.s2, z.s2)); }  \
  FN T##4 NAME(T##4 x, T##4 y, T##4 z) { return (T##4)(NAME(x.lo, y.lo, z.lo), NAME(x.hi, y.hi, z.hi)); }     \
  FN T##8 NAME(T##8 x, T##8 y, T##8 z) { return (T##8)(NAME(x.lo, y.lo, z.lo), NAME(x.hi, y.hi, z.hi)); }
#define WITH_SCALAR(T, N, NAME) \
  FN T##N NAME(T##N x, T y) { return NAME(x, (T##N)(y)); }
#define WITH_SCALARS(T, NAME) \
  WITH_SCALAR(T, 2, NAME) WITH_SCALAR(T, 3, NAME) WITH_SCALAR(T, 4, NAME) WITH_SCALAR(T, 8, NAME)

/* Integer functions of both signs: T, and U of as many bits without a sign */

#define INTEGER(T, U, BITS)                                                              \
  FN T min(T x, T y) { return y < x ? y : x; }                                           \
  HALVES_2(T, min) WITH_SCALARS(T, min)                                                  \
  FN T max(T x, T y) { return x < y ? y : x; }                                           \
  HALVES_2(T, max) WITH_SCALARS(T, max)                                                  \
  FN T clamp(T x, T y, T z) { return x < y ? y : x > z ? z : x; }                        \
  HALVES_3(T, clamp)                                                                     \
  FN T rotate(T x, T y) {                                                                \
    U by = (U)y % BITS;                                                                  \
    return by == 0 ? x : (T)((U)x << by | (U)x >> (BITS - by));                          \
  }                                                                                      \
  HALVES_2(T, rotate)                                                                    \
  FN T popcount(T x) {                                                                   \
    T count = 0;                                                                         \
    for (U left = (U)x; left != 0; left >>= 1) count += (T)(left & 1);                   \
    return count;                                                                        \
  }                                                                                      \
  HALVES_1(T, T, popcount)                                                               \
  FN T clz(T x) {                                                                        \
    T count = BITS;                                                                      \
    for (U left = (U)x; left != 0; left >>= 1) count -= 1;                               \
    return count;                                                                        \
  }                                                                                      \
  HALVES_1(T, T, clz)                                                                    \
  FN T ctz(T x) {                                                                        \
    T count = 0;                                                                         \
    while (count < BITS && ((U)x >> (U)count & 1) == 0) count += 1;                      \
    return count;                                                                        \
  }                                                                                      \
  HALVES_1(T, T, ctz)                                                                    \
  FN T bitselect(T x, T y, T z) { return (x & ~z) | (y & z); }                           \
  HALVES_3(T, bitselect)
INTEGER(int, uint, 32)
INTEGER(uint, uint, 32)
INTEGER(long, ulong, 64)
INTEGER(ulong, ulong, 64)

#define UNSIGNED(T)                                                                      \
  FN T abs(T x) { return x; }                                                            \
  HALVES_1(T, T, abs)                                                                    \
  FN T abs_diff(T x, T y) { return x < y ? y - x : x - y; }                              \
  HALVES_2(T, abs_diff)                                                                  \
  FN T add_sat(T x, T y) { return x + y < x ? ~(T)0 : x + y; }                           \
  HALVES_2(T, add_sat)                                                                   \
  FN T sub_sat(T x, T y) { return x < y ? 0 : x - y; }                                   \
  HALVES_2(T, sub_sat)                                                                   \
  FN T hadd(T x, T y) { return (x >> 1) + (y >> 1) + (x & y & 1); }                      \
  HALVES_2(T, hadd)                                                                      \
  FN T rhadd(T x, T y) { return (x >> 1) + (y >> 1) + ((x | y) & 1); }                   \
  HALVES_2(T, rhadd)
UNSIGNED(uint)
UNSIGNED(ulong)

#define SIGNED(T, U, LEAST, MOST)                                                        \
  FN U abs(T x) { return x < 0 ? -(U)x : (U)x; }                                         \
  HALVES_1(U, T, abs)                                                                    \
  FN T add_sat(T x, T y) {                                                               \
    if (y > 0 && x > MOST - y) return MOST;                                              \
    if (y < 0 && x < LEAST - y) return LEAST;                                            \
    return x + y;                                                                        \
  }                                                                                      \
  HALVES_2(T, add_sat)                                                                   \
  FN T sub_sat(T x, T y) {                                                               \
    if (y < 0 && x > MOST + y) return MOST;                                              \
    if (y > 0 && x < LEAST + y) return LEAST;                                            \
    return x - y;                                                                        \
  }                                                                                      \
  HALVES_2(T, sub_sat)
SIGNED(int, uint, INT_MIN, INT_MAX)
SIGNED(long, ulong, LONG_MIN, LONG_MAX)

FN int mul_hi(int x, int y) { return (int)((long)x * y >> 32); }
FN uint mul_hi(uint x, uint y) { return (uint)((ulong)x * y >> 32); }
FN ulong mul_hi(ulong x, ulong y) {
  ulong x0 = x & 0xffffffff, x1 = x >> 32, y0 = y & 0xffffffff, y1 = y >> 32;
  ulong middle = x1 * y0 + (x0 * y0 >> 32), other = x0 * y1 + (middle & 0xffffffff);
  return x1 * y1 + (middle >> 32) + (other >> 32);
}
FN long mul_hi(long x, long y) {
  ulong high = mul_hi((ulong)x, (ulong)y);
  return (long)(high - (x < 0 ? (ulong)y : 0) - (y < 0 ? (ulong)x : 0));
}
#define MULTIPLY(T)                                                                      \
  HALVES_2(T, mul_hi)                                                                    \
  FN T mad_hi(T x, T y, T z) { return mul_hi(x, y) + z; }                                \
  HALVES_3(T, mad_hi)
MULTIPLY(int)
MULTIPLY(uint)
MULTIPLY(long)
MULTIPLY(ulong)

#define MULTIPLY_24(T)                                                                   \
  FN T mul24(T x, T y) { return x * y; }                                                 \
  HALVES_2(T, mul24)                                                                     \
  FN T mad24(T x, T y, T z) { return x * y + z; }                                        \
  HALVES_3(T, mad24)
MULTIPLY_24(int)
MULTIPLY_24(uint)

/* select: of vectors, the highest bit of an element chooses, of scalars any. */
#define SELECT(T, C)                                                                     \
  FN T select(T x, T y, C c) { return c ? y : x; }                                       \
  FN T##2 select(T##2 x, T##2 y, C##2 c) { return c ? y : x; }                           \
  FN T##3 select(T##3 x, T##3 y, C##3 c) { return c ? y : x; }                           \
  FN T##4 select(T##4 x, T##4 y, C##4 c) { return c ? y : x; }                           \
  FN T##8 select(T##8 x, T##8 y, C##8 c) { return c ? y : x; }
SELECT(int, int)
SELECT(int, uint)
SELECT(uint, int)
SELECT(uint, uint)
SELECT(long, long)
SELECT(long, ulong)
SELECT(ulong, long)
SELECT(ulong, ulong)
SELECT(float, int)
SELECT(float, uint)

/* Functions of real numbers that have one right result */

float fmaf(float, float, float) __asm__("fmaf");
FN float fma(float x, float y, float z) { return fmaf(x, y, z); }
FN float fabs(float x) { return as_float(as_uint(x) & 0x7fffffff); }
FN float fmin(float x, float y) { return x != x ? y : y < x ? y : x; }
FN float fmax(float x, float y) { return x != x ? y : x < y ? y : x; }
FN float min(float x, float y) { return y < x ? y : x; }
FN float max(float x, float y) { return x < y ? y : x; }
FN float clamp(float x, float y, float z) { return fmin(fmax(x, y), z); }

/* Atomic functions of OpenCL C 1.2 */

#define ATOMIC(AS, T)                                                                                             \
  FN T atomic_add(volatile AS T *p, T x) { T old = *p; *p = old + x; return old; }                                \
  FN T atomic_sub(volatile AS T *p, T x) { T old = *p; *p = old - x; return old; }                                \
  FN T atomic_xchg(volatile AS T *p, T x) { T old = *p; *p = x; return old; }                                     \
  FN T atomic_inc(volatile AS T *p) { T old = *p; *p = old + 1; return old; }                                     \
  FN T atomic_dec(volatile AS T *p) { T old = *p; *p = old - 1; return old; }                                     \
  FN T atomic_cmpxchg(volatile AS T *p, T x, T y) { T old = *p; *p = old == x ? y : old; return old; }            \
  FN T atomic_min(volatile AS T *p, T x) { T old = *p; *p = x < old ? x : old; return old; }                      \
  FN T atomic_max(volatile AS T *p, T x) { T old = *p; *p = x > old ? x : old; return old; }                      \
  FN T atomic_and(volatile AS T *p, T x) { T old = *p; *p = old & x; return old; }                                \
  FN T atomic_or(volatile AS T *p, T x) { T old = *p; *p = old | x; return old; }                                 \
  FN T atomic_xor(volatile AS T *p, T x) { T old = *p; *p = old ^ x; return old; }
ATOMIC(global, int)
ATOMIC(global, uint)
ATOMIC(local, int)
ATOMIC(local, uint)

/* Those of OpenCL C 2.0, each without order and scope, with an order, and with both */

#define FETCH(T, NAME, RESULT)                                                                                    \
  FN T atomic_fetch_##NAME(volatile atomic_##T *a, T x) {                                                         \
    volatile T *p = (volatile T *)a;                                                                              \
    T old = *p;                                                                                                   \
    *p = RESULT;                                                                                                  \
    return old;                                                                                                   \
  }                                                                                                               \
  FN T atomic_fetch_##NAME##_explicit(volatile atomic_##T *a, T x, memory_order order) {                          \
    return atomic_fetch_##NAME(a, x);                                                                             \
  }                                                                                                               \
  FN T atomic_fetch_##NAME##_explicit(volatile atomic_##T *a, T x, memory_order order, memory_scope scope) {      \
    return atomic_fetch_##NAME(a, x);                                                                             \
  }
#define FETCHES(T)                                                                                                \
  FETCH(T, add, old + x)                                                                                          \
  FETCH(T, sub, old - x)                                                                                          \
  FETCH(T, and, old & x)                                                                                          \
  FETCH(T, or, old | x)                                                                                           \
  FETCH(T, xor, old ^ x)                                                                                          \
  FETCH(T, min, x < old ? x : old)                                                                                \
  FETCH(T, max, x > old ? x : old)                                                                                \
  FN T atomic_load(volatile atomic_##T *a) { return *(volatile T *)a; }                                           \
  FN T atomic_load_explicit(volatile atomic_##T *a, memory_order order) { return atomic_load(a); }                \
  FN T atomic_load_explicit(volatile atomic_##T *a, memory_order order, memory_scope scope) {                     \
    return atomic_load(a);                                                                                        \
  }                                                                                                               \
  FN void atomic_store(volatile atomic_##T *a, T x) { *(volatile T *)a = x; }                                     \
  FN void atomic_store_explicit(volatile atomic_##T *a, T x, memory_order order) { atomic_store(a, x); }          \
  FN void atomic_store_explicit(volatile atomic_##T *a, T x, memory_order order, memory_scope scope) {            \
    atomic_store(a, x);                                                                                           \
  }                                                                                                               \
  FN T atomic_exchange(volatile atomic_##T *a, T x) {                                                             \
    T old = *(volatile T *)a;                                                                                     \
    *(volatile T *)a = x;                                                                                         \
    return old;                                                                                                   \
  }                                                                                                               \
  FN T atomic_exchange_explicit(volatile atomic_##T *a, T x, memory_order order) { return atomic_exchange(a, x); } \
  FN T atomic_exchange_explicit(volatile atomic_##T *a, T x, memory_order order, memory_scope scope) {            \
    return atomic_exchange(a, x);                                                                                 \
  }
FETCHES(int)
FETCHES(uint)
FETCHES(long)
FETCHES(ulong)
