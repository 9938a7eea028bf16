// What all kernels share: reading matrices whose size is no multiple of a tile's.
#ifndef TILE_H
#define TILE_H

static inline float element(__global const float *m, int row, int column, int rows, int columns) {
    return row < rows && column < columns ? m[row * columns + column] : 0.0f;
}

static inline float activation(float x, float slope) {
    return x > 0.0f ? x : slope * x;
}

#endif
