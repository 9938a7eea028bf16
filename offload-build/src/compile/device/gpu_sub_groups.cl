// Sub-groups of OpenCL C for NVIDIA and AMD GPUs: warps and waves, which libclc has no functions of
// (https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_C.html#subgroup-functions).
//
// A function that all work-items of a sub-group call is for those that exist; the others are for those that the processor
// executes together. Only the functions that a module uses get into it.
#ifdef cl_khr_subgroups
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif
#define SUB_GROUP_FN static __attribute__((overloadable, always_inline, convergent))
#define SUB_GROUP __attribute__((overloadable, always_inline, convergent))

#ifdef __NVPTX__
// A set of lanes. This file is compiled for no architecture, and clang has built-in functions for later ones alone
// (https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-shfl-sync).
typedef uint lanes_t;
SUB_GROUP_FN uint lane_count(void) { return 32; }
SUB_GROUP_FN uint this_lane(void) { return __nvvm_read_ptx_sreg_laneid(); }
SUB_GROUP_FN lanes_t active_lanes(void) {
  lanes_t lanes;
  __asm__ volatile("activemask.b32 %0;" : "=r"(lanes));
  return lanes;
}
SUB_GROUP_FN lanes_t ballot_of(lanes_t among, int v) {
  lanes_t votes;
  __asm__ volatile("{ .reg .pred vote; setp.ne.s32 vote, %1, 0; vote.sync.ballot.b32 %0, vote, %2; }"
                   : "=r"(votes) : "r"(v), "r"(among));
  return votes;
}
SUB_GROUP_FN uint word_of(lanes_t among, uint word, uint lane) {
  uint other;
  __asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, 31, %3;" : "=r"(other) : "r"(word), "r"(lane), "r"(among));
  return other;
}
SUB_GROUP_FN void wait_for(lanes_t among) { __asm__ volatile("bar.warp.sync %0;" : : "r"(among) : "memory"); }
SUB_GROUP_FN uint lowest(lanes_t lanes) { return ctz(lanes); }
SUB_GROUP_FN uint highest(lanes_t lanes) { return 31 - clz(lanes); }
#else
typedef ulong lanes_t;
SUB_GROUP_FN uint lane_count(void) { return __builtin_amdgcn_wavefrontsize(); }
SUB_GROUP_FN uint this_lane(void) { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }
// Comparisons of all lanes: 33 is "not equal".
SUB_GROUP_FN lanes_t ballot_of(lanes_t among, int v) { return __builtin_amdgcn_uicmp((uint)v, 0u, 33); }
SUB_GROUP_FN lanes_t active_lanes(void) { return __builtin_amdgcn_uicmp(1u, 0u, 33); }
SUB_GROUP_FN uint word_of(lanes_t among, uint word, uint lane) {
  return (uint)__builtin_amdgcn_ds_bpermute((int)(lane * 4), (int)word);
}
SUB_GROUP_FN void wait_for(lanes_t among) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
SUB_GROUP_FN uint lowest(lanes_t lanes) { return (uint)ctz(lanes); }
SUB_GROUP_FN uint highest(lanes_t lanes) { return 63 - (uint)clz(lanes); }
#endif

SUB_GROUP_FN uint group_items(void) { return (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2)); }
SUB_GROUP_FN uint linear_item(void) { return (uint)get_local_linear_id(); }
SUB_GROUP_FN uint own_size(void) {
  uint left = group_items() - linear_item() / lane_count() * lane_count();
  return left < lane_count() ? left : lane_count();
}
SUB_GROUP_FN lanes_t lanes_below(uint count) {
  return count >= sizeof(lanes_t) * 8 ? ~(lanes_t)0 : ((lanes_t)1 << count) - 1;
}
SUB_GROUP_FN lanes_t all_lanes(void) { return lanes_below(own_size()); }
SUB_GROUP_FN lanes_t cluster(uint count) { return lanes_below(count) << (this_lane() & ~(count - 1)); }
SUB_GROUP_FN uint4 ballot_vector(lanes_t lanes) { return (uint4)((uint)lanes, (uint)((ulong)lanes >> 32), 0, 0); }
SUB_GROUP_FN lanes_t from_ballot(uint4 ballot) {
  return (lanes_t)((ulong)ballot.y << 32 | ballot.x) & lanes_below(lane_count());
}
SUB_GROUP_FN uint count_of(lanes_t lanes) { return (uint)popcount(lanes); }

uint SUB_GROUP get_sub_group_size(void) { return own_size(); }
uint SUB_GROUP get_max_sub_group_size(void) { return lane_count(); }
uint SUB_GROUP get_num_sub_groups(void) { return (group_items() + lane_count() - 1) / lane_count(); }
uint SUB_GROUP get_enqueued_num_sub_groups(void) { return (group_items() + lane_count() - 1) / lane_count(); }
uint SUB_GROUP get_sub_group_id(void) { return linear_item() / lane_count(); }
uint SUB_GROUP get_sub_group_local_id(void) { return this_lane(); }

void SUB_GROUP sub_group_barrier(cl_mem_fence_flags flags, memory_scope scope) {
  atomic_work_item_fence(flags, memory_order_acq_rel, scope);
  wait_for(all_lanes());
  atomic_work_item_fence(flags, memory_order_acq_rel, scope);
}
void SUB_GROUP sub_group_barrier(cl_mem_fence_flags flags) { sub_group_barrier(flags, memory_scope_work_group); }

int SUB_GROUP sub_group_all(int v) { return ballot_of(all_lanes(), v == 0) == 0; }
int SUB_GROUP sub_group_any(int v) { return ballot_of(all_lanes(), v != 0) != 0; }
int SUB_GROUP sub_group_non_uniform_all(int v) { return ballot_of(active_lanes(), v == 0) == 0; }
int SUB_GROUP sub_group_non_uniform_any(int v) { return ballot_of(active_lanes(), v != 0) != 0; }
int SUB_GROUP sub_group_elect(void) { return this_lane() == lowest(active_lanes()); }

uint4 SUB_GROUP sub_group_ballot(int v) { return ballot_vector(ballot_of(active_lanes(), v != 0)); }
int SUB_GROUP sub_group_inverse_ballot(uint4 v) { return (int)(from_ballot(v) >> this_lane() & 1); }
int SUB_GROUP sub_group_ballot_bit_extract(uint4 v, uint bit) {
  return bit < sizeof(lanes_t) * 8 ? (int)(from_ballot(v) >> bit & 1) : 0;
}
uint SUB_GROUP sub_group_ballot_bit_count(uint4 v) { return count_of(from_ballot(v)); }
uint SUB_GROUP sub_group_ballot_inclusive_scan(uint4 v) { return count_of(from_ballot(v) & lanes_below(this_lane() + 1)); }
uint SUB_GROUP sub_group_ballot_exclusive_scan(uint4 v) { return count_of(from_ballot(v) & lanes_below(this_lane())); }
uint SUB_GROUP sub_group_ballot_find_lsb(uint4 v) { return lowest(from_ballot(v)); }
uint SUB_GROUP sub_group_ballot_find_msb(uint4 v) { return highest(from_ballot(v)); }
uint4 SUB_GROUP get_sub_group_eq_mask(void) { return ballot_vector((lanes_t)1 << this_lane()); }
uint4 SUB_GROUP get_sub_group_lt_mask(void) { return ballot_vector(lanes_below(this_lane())); }
uint4 SUB_GROUP get_sub_group_le_mask(void) { return ballot_vector(lanes_below(this_lane() + 1)); }
uint4 SUB_GROUP get_sub_group_ge_mask(void) {
  return ballot_vector(lanes_below(lane_count()) & ~lanes_below(this_lane()));
}
uint4 SUB_GROUP get_sub_group_gt_mask(void) {
  return ballot_vector(lanes_below(lane_count()) & ~lanes_below(this_lane() + 1));
}

// The value of a lane among those that come here, a word of 32 bits at a time.
#define OF_WORD(T, TO_WORD, FROM_WORD) \
  SUB_GROUP_FN T value_of(lanes_t among, T v, uint lane) { return FROM_WORD(word_of(among, TO_WORD(v), lane)); }
#define OF_WORDS(T)                                                                                       \
  SUB_GROUP_FN T value_of(lanes_t among, T v, uint lane) {                                                \
    uint2 words = as_uint2(v);                                                                            \
    return __builtin_astype((uint2)(word_of(among, words.x, lane), word_of(among, words.y, lane)), T);    \
  }
OF_WORD(char, (uint), (char))
OF_WORD(uchar, (uint), (uchar))
OF_WORD(short, (uint), (short))
OF_WORD(ushort, (uint), (ushort))
OF_WORD(int, (uint), (int))
OF_WORD(uint, (uint), (uint))
OF_WORD(float, as_uint, as_float)
OF_WORDS(long)
OF_WORDS(ulong)
OF_WORDS(double)
#ifdef cl_khr_fp16
#define HALF_FROM_WORD(word) as_half((ushort)(word))
OF_WORD(half, as_ushort, HALF_FROM_WORD)
#endif
// Vectors by their parts.
#define OF_PARTS(T)                                                                                       \
  SUB_GROUP_FN T##2 value_of(lanes_t among, T##2 v, uint lane) {                                          \
    return (T##2)(value_of(among, v.x, lane), value_of(among, v.y, lane));                                \
  }                                                                                                       \
  SUB_GROUP_FN T##3 value_of(lanes_t among, T##3 v, uint lane) {                                          \
    return (T##3)(value_of(among, v.xy, lane), value_of(among, v.z, lane));                               \
  }                                                                                                       \
  OF_HALVES(T##4) OF_HALVES(T##8) OF_HALVES(T##16)
#define OF_HALVES(T)                                                                                      \
  SUB_GROUP_FN T value_of(lanes_t among, T v, uint lane) {                                                \
    return (T)(value_of(among, v.lo, lane), value_of(among, v.hi, lane));                                 \
  }

#define BROADCASTS(T)                                                                                     \
  T SUB_GROUP sub_group_broadcast(T v, uint lane) { return value_of(all_lanes(), v, lane); }              \
  T SUB_GROUP sub_group_non_uniform_broadcast(T v, uint lane) { return value_of(active_lanes(), v, lane); }
#define SHUFFLES(T)                                                                                       \
  T SUB_GROUP sub_group_broadcast_first(T v) { return value_of(active_lanes(), v, lowest(active_lanes())); } \
  T SUB_GROUP sub_group_shuffle(T v, uint lane) { return value_of(active_lanes(), v, lane); }             \
  T SUB_GROUP sub_group_shuffle_xor(T v, uint bits) { return value_of(active_lanes(), v, this_lane() ^ bits); } \
  T SUB_GROUP sub_group_shuffle_up(T v, uint by) { return value_of(active_lanes(), v, this_lane() - by); } \
  T SUB_GROUP sub_group_shuffle_down(T v, uint by) { return value_of(active_lanes(), v, this_lane() + by); } \
  int SUB_GROUP sub_group_non_uniform_all_equal(T v) {                                                    \
    lanes_t lanes = active_lanes();                                                                       \
    return ballot_of(lanes, value_of(lanes, v, lowest(lanes)) != v) == 0;                                 \
  }

// All lanes below the size of the sub-group, in logarithmically many steps (W. Hillis and G. Steele, "Data parallel
// algorithms", 1986).
#define WHOLE_SCAN(T, COMBINED)                                                                           \
  lanes_t lanes = all_lanes();                                                                            \
  uint lane = this_lane(), size = own_size();                                                             \
  T b = v;                                                                                                \
  for (uint step = 1; step < size; step *= 2) {                                                           \
    T a = value_of(lanes, b, lane - step);                                                                \
    if (lane >= step) b = (T)(COMBINED);                                                                  \
  }
#define WHOLE(T, NAME, COMBINED, IDENTITY)                                                                \
  T SUB_GROUP sub_group_reduce_##NAME(T v) {                                                              \
    WHOLE_SCAN(T, COMBINED)                                                                               \
    return value_of(lanes, b, size - 1);                                                                  \
  }                                                                                                       \
  T SUB_GROUP sub_group_scan_inclusive_##NAME(T v) {                                                      \
    WHOLE_SCAN(T, COMBINED)                                                                               \
    return b;                                                                                             \
  }                                                                                                       \
  T SUB_GROUP sub_group_scan_exclusive_##NAME(T v) {                                                      \
    WHOLE_SCAN(T, COMBINED)                                                                               \
    T before = value_of(lanes, b, lane - 1);                                                              \
    return lane == 0 ? (T)(IDENTITY) : before;                                                            \
  }

// Any lanes, one after the other: those in `LANES` up to one for which `IS_IN` no longer holds.
#define FOLD(T, VALUE, LANES, IS_IN, COMBINED, IDENTITY)                                                  \
  lanes_t among = active_lanes();                                                                         \
  T own = (T)(VALUE), a = (T)(IDENTITY);                                                                  \
  uint lane = this_lane();                                                                                \
  bool is_first = true;                                                                                   \
  for (lanes_t left = among; left != 0; left &= left - 1) {                                               \
    uint other = lowest(left);                                                                            \
    T b = value_of(among, own, other);                                                                    \
    if (((LANES) >> other & 1) != 0 && IS_IN) {                                                           \
      a = is_first ? b : (T)(COMBINED);                                                                   \
      is_first = false;                                                                                   \
    }                                                                                                     \
  }                                                                                                       \
  return a;
#define ACTIVE(T, NAME, VALUE, COMBINED, IDENTITY)                                                        \
  T SUB_GROUP sub_group_non_uniform_reduce_##NAME(T v) {                                                  \
    FOLD(T, VALUE, among, true, COMBINED, IDENTITY)                                                       \
  }                                                                                                       \
  T SUB_GROUP sub_group_non_uniform_scan_inclusive_##NAME(T v) {                                          \
    FOLD(T, VALUE, among, other <= lane, COMBINED, IDENTITY)                                              \
  }                                                                                                       \
  T SUB_GROUP sub_group_non_uniform_scan_exclusive_##NAME(T v) {                                          \
    FOLD(T, VALUE, among, other < lane, COMBINED, IDENTITY)                                               \
  }                                                                                                       \
  T SUB_GROUP sub_group_clustered_reduce_##NAME(T v, uint count) {                                        \
    FOLD(T, VALUE, cluster(count), true, COMBINED, IDENTITY)                                              \
  }
#define BOTH(T, NAME, COMBINED, IDENTITY) WHOLE(T, NAME, COMBINED, IDENTITY) ACTIVE(T, NAME, v, COMBINED, IDENTITY)
// Sums of integers wrap around.
#define INTEGERS(T, LEAST, GREATEST)                                                                      \
  BROADCASTS(T) SHUFFLES(T)                                                                               \
  BOTH(T, add, (ulong)a + (ulong)b, 0)                                                                    \
  BOTH(T, min, b < a ? b : a, GREATEST)                                                                   \
  BOTH(T, max, b > a ? b : a, LEAST)                                                                      \
  ACTIVE(T, mul, v, (ulong)a * (ulong)b, 1)                                                               \
  ACTIVE(T, and, v, a & b, ~(T)0)                                                                         \
  ACTIVE(T, or, v, a | b, 0)                                                                              \
  ACTIVE(T, xor, v, a ^ b, 0)
// As `fmin` has it, a number is less than none.
#define FLOATS(T)                                                                                         \
  BROADCASTS(T) SHUFFLES(T)                                                                               \
  BOTH(T, add, a + b, 0)                                                                                  \
  BOTH(T, min, b < a || a != a ? b : a, INFINITY)                                                         \
  BOTH(T, max, b > a || a != a ? b : a, -INFINITY)                                                        \
  ACTIVE(T, mul, v, a * b, 1)
INTEGERS(char, CHAR_MIN, CHAR_MAX)
INTEGERS(uchar, 0, UCHAR_MAX)
INTEGERS(short, SHRT_MIN, SHRT_MAX)
INTEGERS(ushort, 0, USHRT_MAX)
INTEGERS(int, INT_MIN, INT_MAX)
INTEGERS(uint, 0, UINT_MAX)
INTEGERS(long, LONG_MIN, LONG_MAX)
INTEGERS(ulong, 0, ULONG_MAX)
FLOATS(float)
FLOATS(double)
ACTIVE(int, logical_and, v != 0, a & b, 1)
ACTIVE(int, logical_or, v != 0, a | b, 0)
ACTIVE(int, logical_xor, v != 0, a ^ b, 0)
#define VECTORS_OF(T) \
  OF_PARTS(T) BROADCASTS(T##2) BROADCASTS(T##3) BROADCASTS(T##4) BROADCASTS(T##8) BROADCASTS(T##16)
VECTORS_OF(char) VECTORS_OF(uchar) VECTORS_OF(short) VECTORS_OF(ushort) VECTORS_OF(int) VECTORS_OF(uint)
VECTORS_OF(long) VECTORS_OF(ulong) VECTORS_OF(float) VECTORS_OF(double)
#ifdef cl_khr_fp16
FLOATS(half)
VECTORS_OF(half)
#endif
#endif
