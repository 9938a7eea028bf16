// A step of the heat equation on a plate: each point moves towards the mean of its four neighbours. Columns at the border
// keep their temperature.
kernel void spread(global const float *before, global float *after, uint width, uint first_row)
{
    size_t x = get_global_id(0);
    size_t at = (get_global_id(1) + first_row) * width + x;
    float here = before[at];
    if (x == 0 || x == width - 1) {
        after[at] = here;
        return;
    }
    float around = before[at - width] + before[at + width] + before[at - 1] + before[at + 1];
    after[at] = here + 0.2f * (around - 4.0f * here);
}
