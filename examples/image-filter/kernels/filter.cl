// A blur and an edge filter. Pixels outside of the image are those of its border.
#define TILE 16
#define RADIUS 2
#define SIDE (TILE + 2 * RADIUS)

static float pixel(global const float *image, int column, int row, int width, int height) {
    return image[clamp(row, 0, height - 1) * width + clamp(column, 0, width - 1)];
}

// A blur with binomial weights. Each work-group brings its tile and a border of RADIUS pixels into local memory, and
// blurs rows, then columns: `tile` has SIDE * SIDE values, `rows` SIDE * TILE.
kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void blur(global const float *restrict image, global float *restrict blurred, int width, int height,
          local float *tile, local float *rows) {
    const float weights[2 * RADIUS + 1] = { 0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f };
    const int local_column = get_local_id(0), local_row = get_local_id(1);
    const int left = (int)get_group_id(0) * TILE - RADIUS, top = (int)get_group_id(1) * TILE - RADIUS;
    for (int row = local_row; row < SIDE; row += TILE)
        for (int column = local_column; column < SIDE; column += TILE)
            tile[row * SIDE + column] = pixel(image, left + column, top + row, width, height);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int row = local_row; row < SIDE; row += TILE) {
        float sum = 0.0f;
        for (int i = 0; i <= 2 * RADIUS; i++)
            sum += weights[i] * tile[row * SIDE + local_column + i];
        rows[row * TILE + local_column] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int column = get_global_id(0), row = get_global_id(1);
    if (column >= width || row >= height)
        return;
    float sum = 0.0f;
    for (int i = 0; i <= 2 * RADIUS; i++)
        sum += weights[i] * rows[(local_row + i) * TILE + local_column];
    blurred[row * width + column] = sum;
}

// How steep the image is, by Sobel's operators.
kernel void edges(global const float *restrict image, global float *restrict steepness, int width, int height) {
    const int column = get_global_id(0), row = get_global_id(1);
    if (column >= width || row >= height)
        return;
    float across = 0.0f, down = 0.0f;
    for (int i = -1; i <= 1; i++) {
        const float weight = i == 0 ? 2.0f : 1.0f;
        across += weight * (pixel(image, column + 1, row + i, width, height) - pixel(image, column - 1, row + i, width, height));
        down += weight * (pixel(image, column + i, row + 1, width, height) - pixel(image, column + i, row - 1, width, height));
    }
    steepness[row * width + column] = sqrt(across * across + down * down);
}
