/* Sub-groups of OpenCL C for the target `host`
 * (https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_C.html#subgroup-functions).
 *
 * A sub-group is a warp of host_warps.c: 32 neighbours in the order of their linear ids, or as many as the kernel requires.
 * sub_group_functions.rs writes the functions that a module calls, with the macros here.
 *
 * Functions that all work-items of a sub-group call wait for all that have not returned; the others wait for the active
 * ones, which come to the call in the same iteration of every loop around it.
 */
typedef unsigned int u32;
typedef unsigned long long u64;
typedef u32 u4 __attribute__((ext_vector_type(4)));

/* Of thread-local storage when the module is put together. The work-group function writes the size. */
u64 __offload_state_sub_group_size = 32;
extern u32 __offload_warp_active, __offload_warp_votes, __offload_warp_masks[32];
extern u32 __offload_warp_sent[32], __offload_warp_sent_high[32];
extern u32 __offload_warp_received[32], __offload_warp_received_high[32];

u64 linear_id(void) __asm__("_Z19get_local_linear_idv");
u64 local_size(u32) __asm__("_Z14get_local_sizej");
u64 enqueued_local_size(u32) __asm__("_Z23get_enqueued_local_sizej");
__attribute__((convergent, nothrow)) void __offload_wait_warp(void);
__attribute__((convergent, nothrow)) void __offload_wait_lanes(void);

#define INLINE static inline __attribute__((always_inline))
#define CONVERGENT INLINE __attribute__((convergent))
#define DEFINE(result, name, symbol, parameters)                               \
  __attribute__((always_inline, convergent)) result name parameters __asm__(symbol); \
  __attribute__((always_inline, convergent)) result name parameters

INLINE u32 size(void) { return (u32)__offload_state_sub_group_size; }
INLINE u32 lane(void) { return (u32)linear_id() % size(); }
INLINE u32 items(void) { return (u32)(local_size(0) * local_size(1) * local_size(2)); }
INLINE u32 own_size(void) {
  u32 left = items() - (u32)linear_id() / size() * size();
  return left < size() ? left : size();
}
/* The lanes that a sub-group may have, as bits. */
INLINE u32 all_lanes(void) { return ~0u >> (32 - size()); }
INLINE u32 lanes_before(void) { return (1u << lane()) - 1; }
/* The lanes of the cluster of `count` neighbours. */
INLINE u32 cluster(u32 count) { return count >= 32 ? ~0u : ((1u << count) - 1) << (lane() & ~(count - 1)); }

/* The barrier of all work-items of a sub-group. */
CONVERGENT void wait_sub_group(void) {
  __offload_warp_masks[lane()] = ~0u;
  __offload_wait_warp();
}
/* The barrier of the active ones. */
CONVERGENT void wait_active(void) { __offload_wait_lanes(); }

/* The first and the last of some lanes. */
INLINE u32 lowest(u32 lanes) { return (u32)__builtin_ctz(lanes); }
INLINE u32 highest(u32 lanes) { return 31 - (u32)__builtin_clz(lanes); }
INLINE u32 first_active(void) { return lowest(__offload_warp_active); }

/* Functions of the position in the group. */
DEFINE(u32, get_sub_group_size, "_Z18get_sub_group_sizev", (void)) { return own_size(); }
DEFINE(u32, get_max_sub_group_size, "_Z22get_max_sub_group_sizev", (void)) { return size(); }
DEFINE(u32, get_num_sub_groups, "_Z18get_num_sub_groupsv", (void)) { return (items() + size() - 1) / size(); }
DEFINE(u32, get_enqueued_num_sub_groups, "_Z27get_enqueued_num_sub_groupsv", (void)) {
  u64 enqueued = enqueued_local_size(0) * enqueued_local_size(1) * enqueued_local_size(2);
  return (u32)((enqueued + size() - 1) / size());
}
DEFINE(u32, get_sub_group_id, "_Z16get_sub_group_idv", (void)) { return (u32)linear_id() / size(); }
DEFINE(u32, get_sub_group_local_id, "_Z22get_sub_group_local_idv", (void)) { return lane(); }

DEFINE(void, sub_group_barrier, "_Z17sub_group_barrierj", (u32 flags)) { wait_sub_group(); }
DEFINE(void, sub_group_barrier_scope, "_Z17sub_group_barrierj12memory_scope", (u32 flags, u32 scope)) { wait_sub_group(); }

INLINE void send_word(u64 word) {
  __offload_warp_sent[lane()] = (u32)word;
  __offload_warp_sent_high[lane()] = (u32)(word >> 32);
}
INLINE u64 received_word(u32 from) {
  return (u64)__offload_warp_received_high[from] << 32 | __offload_warp_received[from];
}
INLINE void set_received_word(u32 to, u64 word) {
  __offload_warp_received[to] = (u32)word;
  __offload_warp_received_high[to] = (u32)(word >> 32);
}
#define SEND(T, value)                              \
  do {                                              \
    T sent_value = (value);                         \
    u64 sent_word = 0;                              \
    __builtin_memcpy(&sent_word, &sent_value, sizeof(T)); \
    send_word(sent_word);                           \
  } while (0)
/* The votes of the lanes that a barrier has brought together, the first of which counts them. */
INLINE u32 votes(void) {
  if (lane() == first_active()) {
    u32 votes = 0;
    for (u32 left = __offload_warp_active; left; left &= left - 1) {
      u32 voter = lowest(left);
      votes |= (u32)(__offload_warp_received[voter] != 0) << voter;
    }
    __offload_warp_votes = votes;
  }
  return __offload_warp_votes;
}

#define WORD(T, from)                                                          \
  ({                                                                           \
    T word_value;                                                              \
    u64 word_bits = received_word((from) % 32);                                \
    __builtin_memcpy(&word_value, &word_bits, sizeof(T));                      \
    word_value;                                                                \
  })
#define SET_WORD(T, to, value)                                                 \
  do {                                                                         \
    T set_value = (value);                                                     \
    u64 set_bits = 0;                                                          \
    __builtin_memcpy(&set_bits, &set_value, sizeof(T));                        \
    set_received_word(to, set_bits);                                           \
  } while (0)

DEFINE(int, sub_group_all, "_Z13sub_group_alli", (int v)) {
  SEND(int, v == 0);
  wait_sub_group();
  return votes() == 0;
}
DEFINE(int, sub_group_any, "_Z13sub_group_anyi", (int v)) {
  SEND(int, v != 0);
  wait_sub_group();
  return votes() != 0;
}
DEFINE(int, sub_group_non_uniform_all, "_Z25sub_group_non_uniform_alli", (int v)) {
  SEND(int, v == 0);
  wait_active();
  return votes() == 0;
}
DEFINE(int, sub_group_non_uniform_any, "_Z25sub_group_non_uniform_anyi", (int v)) {
  SEND(int, v != 0);
  wait_active();
  return votes() != 0;
}
DEFINE(int, sub_group_elect, "_Z15sub_group_electv", (void)) {
  wait_active();
  return lane() == first_active();
}

/* Ballots: sets of lanes as bits, of which the first 32 are used. */
DEFINE(u4, sub_group_ballot, "_Z16sub_group_balloti", (int v)) {
  SEND(int, v != 0);
  wait_active();
  return (u4){votes(), 0, 0, 0};
}
DEFINE(int, sub_group_inverse_ballot, "_Z24sub_group_inverse_ballotDv4_j", (u4 v)) { return v.x >> lane() & 1; }
DEFINE(int, sub_group_ballot_bit_extract, "_Z28sub_group_ballot_bit_extractDv4_jj", (u4 v, u32 bit)) {
  return bit < 32 ? v.x >> bit & 1 : 0;
}
DEFINE(u32, sub_group_ballot_bit_count, "_Z26sub_group_ballot_bit_countDv4_j", (u4 v)) {
  return (u32)__builtin_popcount(v.x & all_lanes());
}
DEFINE(u32, sub_group_ballot_inclusive_scan, "_Z31sub_group_ballot_inclusive_scanDv4_j", (u4 v)) {
  return (u32)__builtin_popcount(v.x & (lanes_before() | 1u << lane()));
}
DEFINE(u32, sub_group_ballot_exclusive_scan, "_Z31sub_group_ballot_exclusive_scanDv4_j", (u4 v)) {
  return (u32)__builtin_popcount(v.x & lanes_before());
}
DEFINE(u32, sub_group_ballot_find_lsb, "_Z25sub_group_ballot_find_lsbDv4_j", (u4 v)) { return lowest(v.x & all_lanes()); }
DEFINE(u32, sub_group_ballot_find_msb, "_Z25sub_group_ballot_find_msbDv4_j", (u4 v)) { return highest(v.x & all_lanes()); }
DEFINE(u4, get_sub_group_eq_mask, "_Z21get_sub_group_eq_maskv", (void)) { return (u4){1u << lane(), 0, 0, 0}; }
DEFINE(u4, get_sub_group_lt_mask, "_Z21get_sub_group_lt_maskv", (void)) { return (u4){lanes_before(), 0, 0, 0}; }
DEFINE(u4, get_sub_group_le_mask, "_Z21get_sub_group_le_maskv", (void)) {
  return (u4){lanes_before() | 1u << lane(), 0, 0, 0};
}
DEFINE(u4, get_sub_group_ge_mask, "_Z21get_sub_group_ge_maskv", (void)) {
  return (u4){all_lanes() & ~lanes_before(), 0, 0, 0};
}
DEFINE(u4, get_sub_group_gt_mask, "_Z21get_sub_group_gt_maskv", (void)) {
  return (u4){all_lanes() & ~lanes_before() & ~(1u << lane()), 0, 0, 0};
}

/* A function that returns the value `v` of the lane `from_lane`, a word at a time. */
#define EXCHANGE(name, symbol, T, parameters, wait, from_lane)                 \
  DEFINE(T, name, symbol, parameters) {                                        \
    enum { WORDS = (sizeof(T) + 7) / 8 };                                      \
    u64 words[WORDS];                                                          \
    __builtin_memset(words, 0, sizeof(words));                                 \
    __builtin_memcpy(words, &v, sizeof(T));                                    \
    _Pragma("unroll") for (int i = 0; i < WORDS; i++) {                        \
      send_word(words[i]);                                                     \
      wait();                                                                  \
      words[i] = received_word((u32)(from_lane) % 32);                         \
    }                                                                          \
    __builtin_memcpy(&v, words, sizeof(T));                                    \
    return v;                                                                  \
  }

/* Replaces the values of lanes by those of an inclusive scan: the first lane does for all that follow it. */
#define SCAN(T, wait, within, value, combined)                                 \
  T own = (T)(value);                                                          \
  SEND(T, own);                                                                \
  wait();                                                                      \
  u32 lanes = __offload_warp_active & (within);                                                   \
  if (lane() == lowest(lanes)) {                               \
    T a = own;                                                                 \
    for (u32 left = lanes & (lanes - 1); left; left &= left - 1) {             \
      u32 other = lowest(left);                                    \
      T b = WORD(T, other);                                                    \
      a = (T)(combined);                                                       \
      SET_WORD(T, other, a);                                                   \
    }                                                                          \
  }
#define REDUCE(name, symbol, T, parameters, wait, within, value, combined, identity)  \
  DEFINE(T, name, symbol, parameters) {                                        \
    SCAN(T, wait, within, value, combined)                                          \
    return WORD(T, highest(lanes));                       \
  }
#define INCLUSIVE(name, symbol, T, parameters, wait, within, value, combined, identity) \
  DEFINE(T, name, symbol, parameters) {                                        \
    SCAN(T, wait, within, value, combined)                                          \
    return WORD(T, lane());                                                    \
  }
#define EXCLUSIVE(name, symbol, T, parameters, wait, within, value, combined, identity) \
  DEFINE(T, name, symbol, parameters) {                                        \
    SCAN(T, wait, within, value, combined)                                          \
    u32 before = lanes & lanes_before();                                       \
    return before ? WORD(T, highest(before)) : (T)(identity);  \
  }

/* Whether all active lanes have sent the same value. */
#define ALL_EQUAL(name, symbol, T)                                             \
  DEFINE(int, name, symbol, (T v)) {                                           \
    SEND(T, v);                                                                \
    wait_active();                                                             \
    T first = WORD(T, first_active());                                         \
    int is_equal = 1;                                                          \
    for (u32 left = __offload_warp_active; left; left &= left - 1) is_equal &= WORD(T, lowest(left)) == first; \
    return is_equal;                                                           \
  }
