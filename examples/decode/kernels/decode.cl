// A transformer's decode step for one token. Weights are bytes with a scale for each row. The position and the token are in
// the device's memory, so that the same launches serve for every token.

#define GROUP 64   // work-items of a group
#define CONTEXT 64 // tokens that the caches hold

// The sum of `value` over the group, in all its work-items.
static float group_sum(float value, local float *sums)
{
    uint item = get_local_id(0);
    sums[item] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_size = GROUP / 2; half_size > 0; half_size /= 2) {
        if (item < half_size)
            sums[item] += sums[item + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    float sum = sums[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
}

// The token's row of the table.
kernel void embed(global const uint *token, global const char *table, global const float *scales, global float *x, uint width)
{
    uint at = get_global_id(0);
    if (at < width)
        x[at] = table[token[0] * width + at] * scales[token[0]];
}

// Divides by the root of the mean square. One group.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void rms_norm(global const float *x, global const float *gains, global float *out, uint width)
{
    local float sums[GROUP];
    float squares = 0;
    for (uint at = get_local_id(0); at < width; at += GROUP)
        squares += x[at] * x[at];
    float factor = rsqrt(group_sum(squares, sums) / width + 1e-5f);
    for (uint at = get_local_id(0); at < width; at += GROUP)
        out[at] = x[at] * factor * gains[at];
}

// The product of a matrix and a vector, added to `kept` times what is there. A group for each row.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void multiply(global const char *weights, global const float *scales, global const float *x, global float *out, uint width,
              float kept)
{
    local float sums[GROUP];
    size_t row = get_group_id(0);
    float sum = 0;
    for (uint at = get_local_id(0); at < width; at += GROUP)
        sum += weights[row * width + at] * x[at];
    sum = group_sum(sum, sums);
    if (get_local_id(0) == 0)
        out[row] = kept * (kept == 0 ? 0 : out[row]) + sum * scales[row];
}

// Puts keys and values of the token into the caches.
kernel void remember(global const uint *position, global const float *keys, global const float *values,
                     global float *key_cache, global float *value_cache, uint width)
{
    uint at = get_global_id(0);
    if (at < width) {
        key_cache[position[0] * width + at] = keys[at];
        value_cache[position[0] * width + at] = values[at];
    }
}

// Attention of the token to itself and those before it. A group for each head.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void attend(global const uint *position, global const float *queries, global const float *key_cache,
            global const float *value_cache, global float *out, uint width, uint head)
{
    local float sums[GROUP];
    local float weights[CONTEXT];
    uint first = get_group_id(0) * head, item = get_local_id(0);
    uint tokens = position[0] + 1;
    float weight = 0;
    if (item < tokens) {
        float score = 0;
        for (uint at = 0; at < head; at++)
            score += queries[first + at] * key_cache[item * width + first + at];
        // Scores are small: the largest need not be taken off.
        weight = exp(score / sqrt((float)head));
    }
    float sum = group_sum(weight, sums);
    weights[item] = weight / sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint at = item; at < head; at += GROUP) {
        float mean = 0;
        for (uint token = 0; token < tokens; token++)
            mean += weights[token] * value_cache[token * width + first + at];
        out[first + at] = mean;
    }
}

// The product of one half with the other half's sigmoid-weighted values.
kernel void gate(global const float *gates, global float *values, uint width)
{
    uint at = get_global_id(0);
    if (at < width)
        values[at] *= gates[at] / (1 + exp(-gates[at]));
}

// A number in 0..1 that depends on token and position.
static float noise(uint position, uint token)
{
    uint hash = (position * 0x9e3779b9u) ^ (token * 0x85ebca6bu);
    hash = (hash ^ (hash >> 15)) * 0x2c1b3c6du;
    return (float)((hash ^ (hash >> 13)) >> 8) / 16777216.0f;
}

// Takes the token with the largest sum of logit and noise, and goes on to the next position. One group.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sample(global const float *logits, global uint *position, global uint *token, global uint *tokens, uint count)
{
    local float best[GROUP];
    local uint best_token[GROUP];
    uint item = get_local_id(0);
    uint at = position[0];
    best[item] = -INFINITY;
    best_token[item] = 0;
    for (uint candidate = item; candidate < count; candidate += GROUP) {
        float score = logits[candidate] + noise(at, candidate);
        if (score > best[item]) {
            best[item] = score;
            best_token[item] = candidate;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        for (uint other = 1; other < GROUP; other++) {
            if (best[other] > best[0]) {
                best[0] = best[other];
                best_token[0] = best_token[other];
            }
        }
        tokens[at] = best_token[0];
        token[0] = best_token[0];
        position[0] = at + 1;
    }
}
