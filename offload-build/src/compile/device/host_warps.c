/* Independent thread scheduling: work-group functions of kernels with barriers of CUDA, or with sub-groups, call these
 * (offload-workgroup, `codegen::work_group::independent`).
 *
 * The code of a thread is the region that is due, with a flag for what it waits for.
 */
enum { WARP_SIZE = 32 };
#define AT_WARP_BARRIER (1u << 30)
#define AT_BLOCK_BARRIER (2u << 30)
#define RETURNED (3u << 30)

/* What the lanes of the running warp wait for and exchange, those that execute the region, and which of them have sent a
 * number other than 0. Variables named __offload_warp_* become thread-local. */
u32 __offload_warp_masks[WARP_SIZE], __offload_warp_active, __offload_warp_votes;
/* Words of 64 bits in halves, so that neighbours are side by side where a word has 32. */
u32 __offload_warp_sent[WARP_SIZE], __offload_warp_sent_high[WARP_SIZE];
u32 __offload_warp_received[WARP_SIZE], __offload_warp_received_high[WARP_SIZE];

INLINE void __offload_block_begin(u32 *due, u64 count) {
  for (u64 i = 0; i < count; i++) due[i] = 0;
}

INLINE u32 __offload_warp_lane(u32 left) { return (u32)__builtin_ctz(left); }

static u32 lanes_with(const u32 *due, u32 lanes, u32 code) {
  u32 same = 0;
  for (u32 lane = 0; lane < lanes; lane++) same |= (u32)(due[lane] == code) << lane;
  return same;
}

/* Lets the active lanes have what was sent before the barrier. */
static INLINE void exchange(u32 active) {
  u32 votes = 0;
  for (u32 lane = 0; lane < WARP_SIZE; lane++) {
    u32 is_active = active >> lane & 1;
    u32 word = is_active ? __offload_warp_sent[lane] : 0;
    __offload_warp_received[lane] = word;
    __offload_warp_received_high[lane] = is_active ? __offload_warp_sent_high[lane] : 0;
    votes |= (u32)(word != 0) << lane;
  }
  __offload_warp_active = active;
  __offload_warp_votes = votes;
}

/* A barrier of the warp at which all lanes wait. */
INLINE void __offload_warp_pass(void) { exchange(~0u); }

/* The region that the warp whose first thread is `due[0]` executes next, and in the upper half the lanes that do; without
 * lanes if all wait at a barrier of the block or have returned.
 *
 * At a barrier of the warp a lane waits for those that its mask names and that have not returned. If no lane is free to go
 * on, the masks name lanes that do not come, which CUDA leaves undefined: the lanes of the first region go on. */
__attribute__((noinline)) u64 __offload_warp_next(const u32 *due, u64 count) {
  u32 lanes = count < WARP_SIZE ? (u32)count : WARP_SIZE;
  if (lanes == WARP_SIZE && due[0] < AT_BLOCK_BARRIER && lanes_with(due, WARP_SIZE, due[0]) == ~0u) {
    exchange(~0u);
    return (u64)~0u << 32 | (due[0] & ~AT_WARP_BARRIER);
  }
  u32 existing = lanes == WARP_SIZE ? ~0u : (1u << lanes) - 1;
  u32 absent = ~existing | lanes_with(due, lanes, RETURNED);
  u32 region = ~0u, active = 0, blocked_region = ~0u, blocked = 0;
  u32 code = RETURNED, same = 0;
  for (u32 lane = 0; lane < lanes; lane++) {
    if (due[lane] >= AT_BLOCK_BARRIER) continue;
    if (due[lane] != code) {
      code = due[lane];
      same = lanes_with(due, lanes, code);
    }
    u32 number = code & ~AT_WARP_BARRIER;
    u32 awaited = code & AT_WARP_BARRIER ? __offload_warp_masks[lane] & ~absent : 0;
    if (awaited & ~same) {
      if (number < blocked_region) blocked_region = number, blocked = same;
    } else if (number < region) {
      region = number, active = 1u << lane;
    } else if (number == region) {
      active |= 1u << lane;
    }
  }
  if (active == 0) region = blocked_region, active = blocked;
  if (active == 0) return ~0u;
  exchange(active);
  return (u64)active << 32 | region;
}

/* Lets the threads go on that wait at a barrier of the block, which all others have come to; 0 if all have returned. Inlined,
 * its loop would make LLVM compile the whole function once more for a block without threads. */
__attribute__((noinline)) u32 __offload_block_next(u32 *due, u64 count) {
  u32 goes_on = 0;
  for (u64 i = 0; i < count; i++) {
    u32 has_returned = due[i] == RETURNED;
    due[i] = has_returned ? RETURNED : due[i] & ~AT_BLOCK_BARRIER;
    goes_on |= !has_returned;
  }
  return goes_on;
}
