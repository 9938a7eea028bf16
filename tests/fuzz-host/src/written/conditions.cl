//@ leave_one_by_one global=64 local=16 zeros=64 random=64
// Work-items leave a loop in different rounds.
kernel void leave_one_by_one(global uint *out, global const uint *in) {
    uint i = (uint)get_global_id(0), n = in[i] & 15u, x = i;
    for (uint k = 0; k < n; k++) x = x * 31u + (x >> 3) + k;
    out[i] = x;
}

//@ leave_in_the_middle global=64 local=16 zeros=64 random=64 value=40
// The same by a second exit.
kernel void leave_in_the_middle(global uint *out, global const uint *in, uint n) {
    uint i = (uint)get_global_id(0), x = in[i];
    for (uint k = 0; k < n; k++) {
        x = x * 1664525u + 1013904223u;
        if ((x & 0xf00u) == 0x300u) break;
        x ^= x >> 7;
    }
    out[i] = x;
}

//@ some_come_to_loop global=64 local=16 zeros=64 random=64 value=9
// A loop with a uniform count under a condition that is not uniform.
kernel void some_come_to_loop(global uint *out, global const uint *in, uint n) {
    uint i = (uint)get_global_id(0), x = in[i];
    if (x & 4u) {
        for (uint k = 0; k < n; k++) x = x * 31u + (x >> 5) + k;
        x ^= 0x55u;
    }
    out[i] = x + i;
}

//@ loop_in_loop_left_one_by_one global=64 local=16 zeros=64 random=64
// Both loops are left one by one.
kernel void loop_in_loop_left_one_by_one(global uint *out, global const uint *in) {
    uint i = (uint)get_global_id(0), x = in[i], m = x & 3u;
    for (uint j = 0; j <= m; j++) {
        uint n = (x >> 4) & 7u;
        for (uint k = 0; k < n; k++) x = x * 31u + (x >> 5) + k;
        x = x * 7u + j;
    }
    out[i] = x;
}

//@ row_wraps global=32 local=16 zeros=32 value=4294967288 value=4
// The position of a row wraps, and its ends are on the same side of the edge.
kernel void row_wraps(global uint *out, uint from, uint edge) {
    uint i = (uint)get_global_id(0), x = i + from;
    if (x < edge) out[i] = x + 1u;
}

//@ row_wraps_signed global=32 local=16 zeros=32 value=2147483640 value=2147483644
kernel void row_wraps_signed(global uint *out, int from, int edge) {
    int i = (int)get_global_id(0), x = (int)((uint)i + (uint)from);
    if (x >= edge) out[i] = (uint)x + 1u;
}

//@ row_descends global=32 local=16 zeros=32 value=7 value=4294967292
// The position descends below zero.
kernel void row_descends(global uint *out, uint from, uint edge) {
    uint i = (uint)get_global_id(0), x = from - i;
    if (x < edge) out[i] = x + 1u;
}

//@ row_descends_in_group global=16 local=16 zeros=16 value=7 value=4294967292
kernel void row_descends_in_group(global uint *out, uint from, uint edge) {
    uint i = (uint)get_local_id(0), x = from - i;
    if (x < edge) out[i] = x + 1u;
}

//@ count_of_stores global=32 local=16 zeros=512 zeros=32 random=512 random=512 value=16
// A value that differs by whether a store is passed over.
kernel void count_of_stores(global uint *cost, global uint *out, global const uint *edges, global const uint *seen, uint n) {
    uint i = (uint)get_global_id(0), count = 0;
    for (uint k = 0; k < n; k++) {
        uint last = 1u;
        if (seen[edges[i * 16u + k] & 511u] > 0x1000000u) {
            cost[i * 16u + k] = k + 1u;
            last = 7u;
        }
        count = count * 3u + last;
    }
    out[i] = count;
}

//@ atomics_of_groups global=65536 local=64 zeros=4
// Groups in several threads add to one place.
kernel void atomics_of_groups(global uint *out) {
    uint i = (uint)get_global_id(0);
    for (uint k = 0; k < 64u; k++) atomic_add(&out[(i + k) & 3u], k & 3u);
}

//@ position_of_function global=32 local=16 zeros=32
// A function that is called reads the position, and the kernel does not.
__attribute__((noinline)) void position_of_function_add(global uint *out) {
    atomic_add(&out[get_local_id(0)], (uint)get_local_id(0) + 1u);
}
kernel void position_of_function(global uint *out) {
    position_of_function_add(out);
    barrier(CLK_GLOBAL_MEM_FENCE);
    position_of_function_add(out + 16);
}

//@ array_of_each_work_item global=128 local=64 zeros=128 random=128
// A private array, at places that no constant is, which the work-items of a piece use in turn.
kernel void array_of_each_work_item(global uint *out, global const uint *in) {
    uint i = (uint)get_global_id(0), x = in[i];
    uint array[4];
    array[i & 3u] = x;
    array[(i + 1u) & 3u] = x * 3u;
    array[(i + 2u) & 3u] = x * 5u;
    array[(i + 3u) & 3u] = x * 7u;
    x ^= x << 13; x ^= x >> 7; x ^= x << 17; x ^= x << 11; x ^= x >> 9; x ^= x << 15; x ^= x >> 3;
    x ^= x >> 21; x += x << 5; x ^= x >> 9; x ^= x << 3; x ^= x >> 6; x ^= x << 7; x ^= x << 15;
    x ^= x >> 19; x ^= x << 5; x ^= x >> 13; x ^= x >> 11; x += x << 15; x ^= x >> 19;
    x ^= x << 13; x ^= x >> 7; x ^= x << 17; x ^= x << 11; x ^= x >> 9; x ^= x << 15; x ^= x >> 3;
    x ^= x >> 21; x += x << 5; x ^= x >> 9; x ^= x << 3; x ^= x >> 6; x ^= x << 7; x ^= x << 15;
    x ^= x >> 19; x ^= x << 5; x ^= x >> 13; x ^= x >> 11; x += x << 15; x ^= x >> 19;
    x ^= x << 13; x ^= x >> 7; x ^= x << 17; x ^= x << 11; x ^= x >> 9; x ^= x << 15; x ^= x >> 3;
    x ^= x >> 21; x += x << 5; x ^= x >> 9; x ^= x << 3; x ^= x >> 6; x ^= x << 7; x ^= x << 15;
    x ^= x >> 19; x ^= x << 5; x ^= x >> 13; x ^= x >> 11; x += x << 15; x ^= x >> 19;
    out[i] = x + array[x & 3u];
}
