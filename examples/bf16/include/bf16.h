// Numbers in bfloat16: the upper half of a `float`, kept in a `ushort`.
//
// Every operation rounds once, to nearest, ties to even. A NaN that comes out is 0x7fff, on every device.
#pragma once

ushort bf16_from_float(float x);
float bf16_to_float(ushort x);

ushort bf16_add(ushort a, ushort b);
ushort bf16_sub(ushort a, ushort b);
ushort bf16_mul(ushort a, ushort b);
