// The method of conjugate gradients for Poisson's equation on a square grid, whose border is zero
// (https://en.wikipedia.org/wiki/Conjugate_gradient_method). `scalars` stays on the device: the squares of the residual
// of even and odd steps, and the product of the direction with its image.
#define GROUP 256
#define PRODUCT 2

// y = A x, with the five-point stencil.
kernel void apply(global const float *restrict x, global float *restrict y, uint side) {
    const uint column = get_global_id(0), row = get_global_id(1), i = row * side + column;
    if (column >= side || row >= side)
        return;
    float sum = 4.0f * x[i];
    sum -= column > 0 ? x[i - 1] : 0.0f;
    sum -= column + 1 < side ? x[i + 1] : 0.0f;
    sum -= row > 0 ? x[i - side] : 0.0f;
    sum -= row + 1 < side ? x[i + side] : 0.0f;
    y[i] = sum;
}

static void add_in_group(local float *parts, global float *sum) {
    const uint i = get_local_id(0);
    for (uint half_size = GROUP / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < half_size)
            parts[i] += parts[i + half_size];
    }
    if (i == 0)
        *sum = parts[0];
}

// The sum of products of each work-group.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void dot_groups(global const float *a, global const float *b, global float *restrict sums, uint n) {
    local float parts[GROUP];
    const uint i = get_global_id(0);
    parts[get_local_id(0)] = i < n ? a[i] * b[i] : 0.0f;
    add_in_group(parts, &sums[get_group_id(0)]);
}

// Adds the sums of all work-groups, in one work-group.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void add_groups(global const float *restrict sums, global float *restrict scalars, uint count, uint place) {
    local float parts[GROUP];
    float all = 0.0f;
    for (uint group = get_local_id(0); group < count; group += GROUP)
        all += sums[group];
    parts[get_local_id(0)] = all;
    add_in_group(parts, &scalars[place]);
}

// x += alpha p, r -= alpha q, with alpha = r.r / p.q.
kernel void step_along(global const float *restrict scalars, uint square, global const float *restrict p,
                       global const float *restrict q, global float *restrict x, global float *restrict r, uint n) {
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    const float alpha = scalars[PRODUCT] > 0.0f ? scalars[square] / scalars[PRODUCT] : 0.0f;
    x[i] += alpha * p[i];
    r[i] -= alpha * q[i];
}

// p = r + beta p, with beta = r.r / (r.r of the step before).
kernel void turn(global const float *restrict scalars, uint square, uint before, global const float *restrict r,
                 global float *restrict p, uint n) {
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    const float beta = scalars[before] > 0.0f ? scalars[square] / scalars[before] : 0.0f;
    p[i] = r[i] + beta * p[i];
}
