//@ position_of_address global=1.4.8 local=1.4.4 zeros=64 value=2
// The address of a position comes from a phi.
kernel void position_of_address(global uint *out, uint d) {
    size_t x;
    if (d == 1u) { atomic_add(&out[60], 1u); x = get_local_id(1); }
    else { atomic_xor(&out[61], 2u); x = get_local_id(2); }
    atomic_add(&out[x], 1u);
}

//@ position_of_switch global=2.4.8 local=2.4.4 zeros=64 value=2
// The same from a switch.
kernel void position_of_switch(global uint *out, uint d) {
    size_t x;
    switch (d) {
    case 0: atomic_add(&out[60], 1u); x = get_local_id(0); break;
    case 1: atomic_xor(&out[61], 5u); x = get_local_id(1); break;
    case 2: atomic_max(&out[62], 5u); x = get_local_id(2); break;
    default: return;
    }
    atomic_add(&out[x], 1u);
    atomic_add(&out[x + 10], (uint)x);
}

//@ position_behind_barrier global=2.4.8 local=2.4.4 zeros=64 value=2
// The same, loaded from behind a barrier.
kernel void position_behind_barrier(global uint *out, uint d) {
    size_t x;
    if (d == 1u) { for (uint k = 0; k < d + 3u; k++) atomic_add(&out[60], k); x = get_local_id(1); }
    else { atomic_xor(&out[61], 2u); x = get_local_id(2); }
    barrier(CLK_GLOBAL_MEM_FENCE);
    atomic_add(&out[x], 1u);
}

//@ position_of_helper global=4.8 local=4.4 zeros=64 value=2
// The same from a helper function.
size_t position_of_helper_pos(uint d, global uint *o) { if (d & 1u) { atomic_add(&o[60], 1u); return get_local_id(0); } atomic_sub(&o[61], 1u); return get_local_id(1); }
kernel void position_of_helper(global uint *out, uint n) {
    for (uint k = 0; k < n; k++) {
        size_t a = position_of_helper_pos(k, out), b = position_of_helper_pos(k + 1u, out);
        barrier(CLK_GLOBAL_MEM_FENCE);
        atomic_add(&out[a * 4 + b], k + 1u);
    }
}

//@ position_in_other_piece global=4.8 local=4.4 zeros=64 value=3
kernel void position_in_other_piece(global uint *out, uint n) {
    // dimension by the round, position and size and group id, as pointers would be chosen
    uint i = (uint)(get_global_id(1) * 4 + get_global_id(0)), r = 0;
    for (uint k = 0; k < n; k++) {
        size_t a;
        if (k & 1u) { atomic_inc(&out[40]); a = get_local_id(0); } else if (k & 2u) { atomic_dec(&out[41]); a = get_local_size(1); } else { atomic_or(&out[42], 1u); a = get_local_id(1); }
        barrier(CLK_GLOBAL_MEM_FENCE);
        r = r * 5u + (uint)a;
    }
    out[i] = r;
}

//@ position_in_loop global=1.8 local=1.8 zeros=64 value=3
kernel void position_in_loop(global uint *out, uint n) {
    // the first of several positions in a loop without barriers, divergent
    uint r = 0;
    for (uint k = 0; k < n + 2u; k++) {
        size_t a;
        if (k & 1u) { atomic_inc(&out[40]); a = get_local_id(1); } else { atomic_dec(&out[41]); a = get_local_id(2); }
        atomic_add(&out[a], k);
    }
}

//@ restrict_argument global=32 local=16 numbers=32 zeros=32
// `restrict` promises nothing of other work-items, which write behind a barrier.
kernel void restrict_argument(global uint *restrict p, global uint *restrict out) {
    uint lid = (uint)get_local_id(0), base = (uint)get_group_id(0) * 16u;
    uint a = p[base];
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (lid == 3u) p[base] = a + 100u;
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[base + lid] = p[base] * 3u + a;
}

//@ restrict_in_helper global=32 local=16 zeros=32
uint restrict_in_helper_f(local uint *restrict t, local uint *restrict u, uint lid) {
    uint a = t[0] + u[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 3u) t[0] = a + 100u;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint r = t[0] * 3u + a;
    barrier(CLK_LOCAL_MEM_FENCE);
    return r;
}
kernel void restrict_in_helper(global uint *out) {
    local uint t[16], u[16];
    uint lid = (uint)get_local_id(0);
    t[lid] = lid; u[lid] = lid * 2u;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = restrict_in_helper_f(t, u, lid) + restrict_in_helper_f(u, t, lid);
}

//@ alignment_256 global=48 local=12 zeros=48 value=1
// Private variables are aligned to more than a cache line.
kernel void alignment_256(global uint *out, uint n) {
    uint v[4] __attribute__((aligned(256)));
    uint c[3];
    uint i = (uint)get_global_id(0);
    for (uint k = 0; k < 4; k++) v[k] = i * k + n;
    for (uint k = 0; k < 3; k++) c[k] = i + k * n;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = v[(n + i) & 3u] + c[i % 3u] + 1000u * (((size_t)&v[n & 1] & 251ul) != 0);
}

//@ alignment_256_by_pointer global=48 local=12 zeros=48 random=48 value=1
kernel void alignment_256_by_pointer(global uint *out, global const uint *in, uint n) {
    uint v[64] __attribute__((aligned(256))); uint c[1];
    uint i = (uint)get_global_id(0);
    for (uint k = 0; k < 64; k++) v[k] = in[k % 48u] * i + k;
    c[0] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint *p = (uint *)((ulong)v | (ulong)((i * 5u + n) & 63u) * 4ul);
    *p += 3u; c[0] += n;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = *p + v[(i + 40u) & 63u] + c[0];
}

//@ alignment_2048 global=48 local=12 zeros=48 random=48 value=1
kernel void alignment_2048(global uint *out, global const uint *in, uint n) {
    uint v[512] __attribute__((aligned(2048)));
    uint i = (uint)get_global_id(0);
    for (uint k = 0; k < 512; k++) v[k] = in[k % 48u] * i + k;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint *p = (uint *)((ulong)v | (ulong)((i * 55u + n) & 511u) * 4ul);
    *p += 3u;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = *p + v[(i + 40u) & 511u];
}

//@ alignment_of_local_memory global=32 local=16 zeros=32
kernel void alignment_of_local_memory(global uint *out) {
    // local arrays aligned to more than the zone around them, in sanitized builds
    local uint t[512] __attribute__((aligned(2048))); local uint u[4];
    uint lid = (uint)get_local_id(0);
    for (uint k = lid; k < 512u; k += 16u) t[k] = k * 3u;
    if (lid < 4u) u[lid] = lid;
    barrier(CLK_LOCAL_MEM_FENCE);
    local uint *p = (local uint *)((ulong)t | (ulong)(lid * 31u) * 4ul);
    out[get_global_id(0)] = *p + u[lid & 3u] + (((ulong)t & 2047ul) != 0ul) * 100000u;
}

//@ atomic_at_constant_index global=32 local=16 zeros=32
// The result of an atomic operation at a constant index lives over a barrier.
kernel void atomic_at_constant_index(global uint *out) {
    local uint t[4];
    if (get_local_id(0) < 4) t[get_local_id(0)] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint old = atomic_inc(&t[1]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&out[get_group_id(0)], old * old);
}

//@ atomic_with_address global=32 local=16 zeros=32
// An operand of an atomic operation is a constant expression.
constant uint atomic_with_address_tab[4] = {1, 2, 3, 4};
kernel void atomic_with_address(global uint *out) {
    local uint l;
    if (get_local_id(0) == 0) l = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint old = atomic_xchg(&l, (uint)(ulong)atomic_with_address_tab);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = (old == 0u || old == (uint)(ulong)atomic_with_address_tab) + atomic_with_address_tab[get_local_id(0) & 3];
}

//@ structure_with_vector global=32 local=16 zeros=32 random=32
// A structure whose members are passed in vectors lives over a barrier.
struct structure_with_vector_s { float a, b, c; };
__attribute__((noinline)) struct structure_with_vector_s structure_with_vector_make(uint x) {
    struct structure_with_vector_s s; s.a = (float)(x & 255u); s.b = (float)(x >> 3 & 255u); s.c = (float)(x >> 5 & 127u); return s;
}
kernel void structure_with_vector(global uint *out, global const uint *in) {
    uint i = (uint)get_global_id(0);
    struct structure_with_vector_s s = structure_with_vector_make(in[i]);
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = (uint)(s.a + s.b * 2.0f + s.c * 4.0f);
}

//@ components_of_structure global=32 local=16 zeros=32 random=32
// Components of vectors in local memory are written one by one.
struct components_of_structure_p { float4 pos; uint id; };
kernel void components_of_structure(global uint *out, global const uint *in) {
    // members that are vectors of structures in local memory, filled by component: a usual particle tile
    local struct components_of_structure_p t[16]; uint lid = (uint)get_local_id(0), i = (uint)get_global_id(0);
    t[lid].pos.x = (float)(in[i] & 15u); t[lid].pos.y = 1.0f; t[lid].pos.z = 2.0f; t[lid].pos.w = (float)lid; t[lid].id = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    float s = 0.0f; uint n = 0;
    for (uint k = 0; k < 16u; k++) { s += t[k].pos.x * t[k].pos.y + t[k].pos.w; n ^= t[k].id; }
    out[i] = (uint)s + n;
}

//@ components_of_vectors global=32 local=16 zeros=32 random=32
kernel void components_of_vectors(global uint *out, global const uint *in) {
    local uint4 v[16]; local float3 w[16]; local uchar2 c[16];
    uint lid = (uint)get_local_id(0), i = (uint)get_global_id(0);
    v[lid].x = in[i]; v[lid].yz = (uint2)(i, 2); v[lid].w = 5u;
    w[lid].x = (float)lid; w[lid].z = 2.0f; w[lid].y = 3.0f;
    c[lid].y = (uchar)i; c[lid].x = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint4 a = v[15u - lid]; float3 b = w[lid ^ 1u];
    out[i] = a.x + a.y * 3u + a.z + a.w + (uint)(b.x + b.y * 2.0f + b.z) + c[lid ^ 3u].x + c[lid ^ 3u].y;
}

//@ components_of_neighbours global=32 local=16 zeros=32 zeros=32
kernel void components_of_neighbours(global uint2 *out, global const uint *in) {
    // neighbours write components of one vector
    uint lid = (uint)get_local_id(0), i = (uint)get_global_id(0);
    local uint2 t[8];
    if (lid & 1u) t[lid >> 1].y = i; else t[lid >> 1].x = i * 3u;
    barrier(CLK_LOCAL_MEM_FENCE);
    if ((lid & 1u) == 0u) out[i >> 1] = t[7u - (lid >> 1)];
}

//@ round_reads_last_round global=128 local=64 random=512 zeros=128
// A round of a loop reads what the one before it has stored.
kernel void round_reads_last_round(global uint *a, global uint *out) {
    size_t g = get_global_id(0), end = 4 * g + 3;
    uint x = a[end];
    for (size_t k = 4 * g; k != end; k++) {
        ((global ushort *)(a + k + 1))[0] = (ushort)(x + 7u * (uint)k);
        x = x * 31u + a[k];
    }
    out[g] = x;
}

//@ store_in_each_round global=128 local=64 zeros=256 random=128
// A store under a condition follows one to the same address, in each round of a loop.
kernel void store_in_each_round(global uint *a, global const uint *c) {
    local uint tile[256];
    size_t g = get_global_id(0), end = 4 * g + 3, q = 2 * g;
    bool cc = c[g] != 0;
    uint x = c[g];
    for (size_t k = 4 * g; k != end; k++) {
        size_t j = k & 3;
        x ^= x << 13; x ^= x >> 7; x ^= x << 17; x += (uint)k; x ^= x << 11; x ^= x >> 9; x ^= x << 15; x ^= x >> 3;
        x ^= x >> 21; x += x << 5; x ^= x >> 9; x ^= x << 3; x ^= x >> 6; x ^= x << 7; x += (uint)k; x ^= x << 15;
        x ^= x >> 19; x ^= x << 5; x ^= x >> 13; x ^= x >> 11; x += x << 15; x ^= x >> 19;
        if (j != 1 || (x & 64)) a[q] = x;
        q += j == 1;
        tile[(k ^ 255) & 255] = x;
    }
}

//@ dimension_unrolled global=2.256 local=2.128 random=512 same=0 zeros=512
// The loop over the first dimension is unrolled, and that over the second becomes vectors.
__attribute__((reqd_work_group_size(2, 128, 1)))
kernel void dimension_unrolled(global uint *a, global const uint *b, global uint *out) {
    size_t i = get_global_id(1) * 2 + get_local_id(0);
    a[i] = (uint)i * 3u + 1u;
    out[i] = b[i] ^ 5u;
}

//@ length_is_one global=128 local=64 random=256 same=0 random=128 zeros=128 value=1.0
// LLVM versions a loop for rows of length one.
kernel void length_is_one(global uint *a, global const uint *b, global const uint *c, global uint *out, ulong len) {
    size_t g = get_global_id(0);
    uint y = c[len * g];
    a[len * (2 * g)] = (uint)g * 7u + 1u;
    uint x = b[2 * g];
    a[len * (2 * g + 1)] = x * 3u;
    out[g] = x + y;
}

//@ values_of_work_item_together global=128 local=64 random=512 random=512 random=256 zeros=128 zeros=256 random=128
// Kept values of a work-item lie beside a private array that is accessed between two barriers.
kernel void values_of_work_item_together(global const uint4 *v, global const ulong *q, global const uchar *s, global uint *o1, global ulong *out, global const uint *ix) {
    size_t g = get_global_id(0), l = get_local_id(0);
    local uint t[64];
    uint4 w = v[g];
    w = w * w.yzwx + (uint4)(1, 2, 3, 4);
    ulong arr[2];
    arr[0] = q[g];
    arr[1] = q[g] * 3;
    ulong p = q[g + 128];
    uchar s0 = s[8 * g], s1 = s[8 * g + 1], s2 = s[8 * g + 2], s3 = s[8 * g + 3];
    uchar s4 = s[8 * g + 4], s5 = s[8 * g + 5], s6 = s[8 * g + 6], s7 = s[8 * g + 7];
    t[l] = w.x + w.y * w.z + w.w;
    barrier(CLK_LOCAL_MEM_FENCE);
    arr[ix[g] & 1] = p + 1;
    ulong x = arr[0];
    x ^= x << 13; x ^= x >> 7; x ^= x << 17; x += p; x ^= x << 11; x ^= x >> 9; x ^= x << 15; x ^= p >> 3;
    x ^= x >> 21; x += x << 5; x ^= x >> 9;
    out[g] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    o1[g] = t[63 - l] + s0 * 3 + s1 * 5 + s2 * 7 + s3 * 11 + s4 * 13 + s5 * 17 + s6 * 19 + s7 * 23 + (uint)arr[1];
}
