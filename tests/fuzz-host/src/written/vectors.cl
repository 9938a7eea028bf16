//@ count_behind_loop global=160 local=80 zeros=160 random=160
// The count is the same for all work-items that are in the loop, and another for each behind it.
kernel void count_behind_loop(global uint *out, global const uint *in) {
    uint i = get_global_id(0), n = in[i] | 1u, count = 0;
    while (n > 1u && count < 90u) { n = n & 1u ? n * 3u + 1u : n >> 1; count++; }
    out[i] = count * 1000u + (n & 255u);
}

//@ equal_operands_in_loop global=128 local=64 zeros=128 random=128
// Operands of a phi are the same for all work-items, which come from both sides of a branch.
kernel void equal_operands_in_loop(global uint *out, global const uint *in) {
    uint i = get_global_id(0), x = in[i], s = 0, k = 0;
    while ((x & 31u) != 7u) {
        uint a;
        if (x & 4u) { a = k + 1u; x ^= x >> 7; x *= 13u; } else { a = 3u; x += x << 3; x ^= s; }
        s = s * 5u + a;
        x = x * 1664525u + 1013904223u + s;
        if (++k > 60u) break;
    }
    out[i] = s ^ x;
}

//@ stores_of_active_work_items global=128 local=64 zeros=256 random=128
// Work-items that have left store no more: words, and bytes, which few CPUs can mask.
kernel void stores_of_active_work_items(global uint *out, global const uint *in) {
    uint i = get_global_id(0), x = in[i];
    global uchar *bytes = (global uchar *)(out + 128);
    for (uint k = 0; k < 50u && (x & 63u) != 9u; k++) {
        x = x * 1664525u + 1013904223u; x ^= x >> 11; x += k; x ^= x << 5;
        out[i] += x & 15u;
        if (x & 16u) bytes[i] += (uchar)(x * 3u);
    }
}

//@ divisors_of_active_work_items global=128 local=64 zeros=128 random=128
// The divisor of a work-item that has left is zero.
kernel void divisors_of_active_work_items(global uint *out, global const uint *in) {
    uint i = get_global_id(0), d = in[i], s = 1;
    while (d) {
        s ^= s << 7; s ^= s >> 9; s += d * 11u; s ^= s << 3; s *= 77u; s ^= s >> 13; s += s << 2; s ^= 5u; s *= 9u;
        s ^= s >> 5; s += s << 9; s ^= s >> 1; s *= 3u; s += 7u; s ^= s << 11; s *= 5u; s ^= s >> 3; s += s << 6;
        s += 1000000u / d;
        d >>= 1u + (s & 3u);
    }
    out[i] = s;
}

//@ loops_in_loop global=96 local=48 zeros=96 random=96
// A loop in a loop, both left one by one; one goes on with the next iteration, or ends both.
kernel void loops_in_loop(global uint *out, global const uint *in) {
    uint i = get_global_id(0), x = in[i], s = 0;
    for (uint k = 0; k < (x & 15u); k++) {
        uint y = x + k, last = 0;
        while (y & 7u) {
            y = y * 1664525u + 12345u + s; y ^= y >> 9;
            if ((y & 48u) == 16u) continue;
            last = y;
            s += y & 255u;
            if ((y & 1023u) == 77u) { s ^= 0x80000000u; goto both; }
        }
        s = s * 3u + last + k;
    }
both:
    out[i] = s;
}

//@ switch_in_loop global=128 local=32 zeros=128 random=128
kernel void switch_in_loop(global uint *out, global const uint *in) {
    uint i = get_global_id(0), x = in[i], s = 0;
    do {
        switch (x & 7u) {
        case 0: s += 5u; x ^= x >> 3; break;
        case 1: s ^= x; x += 11u; break;
        case 3: s = s * 3u + 1u; // falls through
        case 4: x = x * 5u + s; break;
        case 5: if (s & 1u) return;
        default: x = x * 1664525u + 13u; s += x >> 28;
        }
        x = x * 1664525u + 1013904223u; s++;
    } while ((x >> 8 & 31u) && s < 100000u);
    out[i] = s * 2u + (x & 1u);
}

//@ vectors_in_loop global=64 local=32 zeros=256 random=1024
// Vectors of the kernel beside those of work-items.
kernel void vectors_in_loop(global uint4 *out, global const uint4 *in) {
    uint i = get_global_id(0);
    uint4 s = 0;
    for (uint k = i; k < 256u; k += 64u) {
        uint4 v = in[k];
        s += v * (uint4)(1, 2, 3, 4) + s.wxyz;
        s ^= s >> 3u; s += s << 5u; s ^= v.yzwx;
    }
    out[i] = s;
}

//@ loop_between_barriers global=128 local=64 zeros=128 random=128 scratch=256
// Values live across a barrier, and the group's counter goes on.
kernel void loop_between_barriers(global uint *out, global const uint *in, local uint *tile) {
    uint l = get_local_id(0), x = in[get_global_id(0)] | 1u, all = 0;
    for (uint r = 0; r < 5u; r++) {
        uint c = 0;
        while ((x & 3u) && c < 40u) { x = x * 7u + c + r; x ^= x >> 3; x += x << 4; c++; }
        tile[l] = x + c;
        barrier(CLK_LOCAL_MEM_FENCE);
        x = tile[(l + r) & 63u] | 1u;
        all = all * 3u + c;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = x + all;
}

//@ value_of_last_iteration global=128 local=64 zeros=128 random=128 value=6
// A value of the last iteration but one is used behind a loop that all leave together, if they come to it.
kernel void value_of_last_iteration(global uint *out, global const uint *in, uint n) {
    uint i = get_global_id(0), x = in[i], s = i * 3u, q = 0;
    ulong w = i + 7u;
    for (uint k = 0; k < 20u && (x & 3u) != 2u; ++k)
        for (uint j = 0; j < 5u; j++) { q = k >> (s & 15u); s ^= n << ((w - s) & 15u); w = (ulong)((x << (j & 15u)) + x); }
    out[i] = x + s * 3u + (uint)w + q;
}

//@ uniform_exit_of_some global=128 local=64 zeros=128 random=128
// A branch that is the same for all who come to it ends the loop, but not all come to it in the same iteration.
kernel void uniform_exit_of_some(global uint *out, global const uint *in) {
    uint i = get_global_id(0), x = in[i], s = i, k;
    for (k = 0; k < 40u; k++) {
        x = x * 1664525u + 1013904223u;
        s += x >> 7; s ^= s << 3; s *= 9u;
        if (x & 0x300u) { s ^= k; if ((k & 7u) == 5u) break; }
    }
    out[i] = s + k * 65537u;
}

//@ loops_one_behind_another global=128 local=64 zeros=128 random=128
// Work-items that have left the first loop wait at the header of the second.
kernel void loops_one_behind_another(global uint *out, global const uint *in) {
    uint i = get_global_id(0), x = i * 3u, y = in[0];
    for (uint k = 0; k < 12u; k++) { y += k ^ x; if ((x & 15u) == 2u) break; }
    for (uint k = 0; k < 23u; k++) { y = y * 5u + x + 64u; x += k ^ y; if ((y & 63u) == 7u) break; }
    out[i] += x + y;
}
