#include "bf16.h"

// Bits, so that no copy of a signalling NaN on the way makes a quiet one of it.
kernel void widen(global const ushort *x, global uint *y) {
  size_t i = get_global_id(0);
  y[i] = as_uint(bf16_to_float(x[i]));
}

kernel void narrow(global const uint *x, global ushort *y) {
  size_t i = get_global_id(0);
  y[i] = bf16_from_float(as_float(x[i]));
}

kernel void add(global const ushort *a, global const ushort *b, global ushort *y) {
  size_t i = get_global_id(0);
  y[i] = bf16_add(a[i], b[i]);
}

kernel void subtract(global const ushort *a, global const ushort *b, global ushort *y) {
  size_t i = get_global_id(0);
  y[i] = bf16_sub(a[i], b[i]);
}

kernel void multiply(global const ushort *a, global const ushort *b, global ushort *y) {
  size_t i = get_global_id(0);
  y[i] = bf16_mul(a[i], b[i]);
}
