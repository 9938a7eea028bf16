// The layers of a transformer as templates over the type of numbers, the width of a head and the tiles.
#pragma once

template <typename To, typename From> __device__ __forceinline__ To as(From x) { return (To)(float)x; }

__device__ __forceinline__ float shuffle_xor(float x, int mask) {
    const int lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
    return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((lane ^ mask) << 2, __builtin_bit_cast(int, x)));
}

struct Sum {
    static constexpr float identity = 0.0f;
    __device__ __forceinline__ static float of(float x) { return x; }
    __device__ __forceinline__ static float both(float a, float b) { return a + b; }
};
struct Largest {
    static constexpr float identity = -3.0e38f;
    __device__ __forceinline__ static float of(float x) { return x; }
    __device__ __forceinline__ static float both(float a, float b) { return fmaxf(a, b); }
};
struct LargestMagnitude : Largest {
    static constexpr float identity = 0.0f;
    __device__ __forceinline__ static float of(float x) { return fabsf(x); }
};
struct SquareSum : Sum {
    __device__ __forceinline__ static float of(float x) { return x * x; }
};

/// Every item of the group gets what `Op` makes of all values.
template <typename Op, int Threads> __device__ __forceinline__ float all_of(float x) {
    __shared__ float lanes[Threads / 32];
    for (int mask = 16; mask > 0; mask /= 2) x = Op::both(x, shuffle_xor(x, mask));
    const int item = threadIdx.x;
    __syncthreads();
    if (item % 32 == 0) lanes[item / 32] = x;
    __syncthreads();
    float all = Op::identity;
    for (int i = 0; i < Threads / 32; i++) all = Op::both(all, lanes[i]);
    return all;
}

template <typename T, typename Op, int Threads>
__global__ __launch_bounds__(Threads) void reduce(const T *in, float *out, int count) {
    float x = Op::identity;
    for (int i = blockIdx.x * Threads + threadIdx.x; i < count; i += gridDim.x * Threads)
        x = Op::both(x, Op::of(as<float>(in[i])));
    x = all_of<Op, Threads>(x);
    if (threadIdx.x == 0) out[blockIdx.x] = x;
}

template <typename T, int Width, int Threads>
__global__ __launch_bounds__(Threads) void softmax(const T *in, T *out, float scale) {
    constexpr int Each = (Width + Threads - 1) / Threads;
    const T *row = in + (size_t)blockIdx.x * Width;
    float values[Each], most = Largest::identity, sum = 0.0f;
#pragma unroll
    for (int i = 0; i < Each; i++) {
        const int at = i * Threads + threadIdx.x;
        values[i] = at < Width ? as<float>(row[at]) * scale : Largest::identity;
        most = fmaxf(most, values[i]);
    }
    most = all_of<Largest, Threads>(most);
#pragma unroll
    for (int i = 0; i < Each; i++) {
        values[i] = __expf(values[i] - most);
        sum += values[i];
    }
    sum = all_of<Sum, Threads>(sum);
#pragma unroll
    for (int i = 0; i < Each; i++) {
        const int at = i * Threads + threadIdx.x;
        if (at < Width) out[(size_t)blockIdx.x * Width + at] = as<T>(values[i] / sum);
    }
}

template <typename T, int Width, int Threads>
__global__ __launch_bounds__(Threads) void softmax_backward(const T *out, const T *gradient, T *in) {
    const size_t row = (size_t)blockIdx.x * Width;
    float dot = 0.0f;
    for (int i = threadIdx.x; i < Width; i += Threads) dot += as<float>(out[row + i]) * as<float>(gradient[row + i]);
    dot = all_of<Sum, Threads>(dot);
    for (int i = threadIdx.x; i < Width; i += Threads)
        in[row + i] = as<T>(as<float>(out[row + i]) * (as<float>(gradient[row + i]) - dot));
}

struct WithMean { static constexpr bool mean = true; };
struct RootMeanSquare { static constexpr bool mean = false; };

template <typename T, typename Kind, int Width, int Threads>
__global__ __launch_bounds__(Threads) void layer_norm(const T *in, const T *weight, const T *bias, T *out, float epsilon) {
    constexpr int Each = (Width + Threads - 1) / Threads;
    const size_t row = (size_t)blockIdx.x * Width;
    float values[Each], sum = 0.0f, squares = 0.0f;
#pragma unroll
    for (int i = 0; i < Each; i++) {
        const int at = i * Threads + threadIdx.x;
        values[i] = at < Width ? as<float>(in[row + at]) : 0.0f;
        sum += values[i];
        squares += values[i] * values[i];
    }
    const float mean = Kind::mean ? all_of<Sum, Threads>(sum) / Width : 0.0f;
    const float variance = all_of<Sum, Threads>(squares) / Width - mean * mean;
    const float scale = 1.0f / sqrtf(variance + epsilon);
#pragma unroll
    for (int i = 0; i < Each; i++) {
        const int at = i * Threads + threadIdx.x;
        if (at < Width) {
            const float shift = Kind::mean ? as<float>(bias[at]) : 0.0f;
            out[row + at] = as<T>((values[i] - mean) * scale * as<float>(weight[at]) + shift);
        }
    }
}

struct Plain {
    __device__ __forceinline__ static float of(float x) { return x; }
};
struct Relu {
    __device__ __forceinline__ static float of(float x) { return fmaxf(x, 0.0f); }
};
struct Silu {
    __device__ __forceinline__ static float of(float x) { return x / (1.0f + __expf(-x)); }
};
struct Gelu {
    __device__ __forceinline__ static float of(float x) {
        const float y = 0.7978845608f * (x + 0.044715f * x * x * x);
        return x / (1.0f + __expf(-2.0f * y));
    }
};

template <typename T, typename Op, int Each>
__global__ void activation(const T *in, T *out, int count) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * Each;
    float values[Each];
#pragma unroll
    for (int i = 0; i < Each; i++) values[i] = first + i < count ? as<float>(in[first + i]) : 0.0f;
#pragma unroll
    for (int i = 0; i < Each; i++)
        if (first + i < count) out[first + i] = as<T>(Op::of(values[i]));
}

/// C = Op(A B + bias): a tile of M x N for a group of 256, of Rows x Columns for an item.
template <typename T, typename Op, int M, int N, int K, int Rows, int Columns>
__global__ __launch_bounds__(256) void gemm(const T *a, const T *b, const T *bias, T *c, int m, int n, int k) {
    constexpr int Across = N / Columns;
    static_assert(M / Rows * Across == 256, "a group has 256 items");
    __shared__ T left[K][M + 2];
    __shared__ T right[K][N + 2];
    const int item = threadIdx.x, x = item % Across, y = item / Across;
    const int row = blockIdx.y * M, column = blockIdx.x * N;
    float sums[Rows][Columns] = {};
    for (int start = 0; start < k; start += K) {
        for (int i = item; i < M * K; i += 256)
            left[i % K][i / K] = row + i / K < m && start + i % K < k ? a[(size_t)(row + i / K) * k + start + i % K] : as<T>(0);
        for (int i = item; i < N * K; i += 256)
            right[i / N][i % N] = start + i / N < k && column + i % N < n ? b[(size_t)(start + i / N) * n + column + i % N] : as<T>(0);
        __syncthreads();
#pragma unroll
        for (int l = 0; l < K; l++) {
            float one[Rows], other[Columns];
            for (int i = 0; i < Rows; i++) one[i] = as<float>(left[l][y * Rows + i]);
            for (int j = 0; j < Columns; j++) other[j] = as<float>(right[l][x * Columns + j]);
            for (int i = 0; i < Rows; i++)
                for (int j = 0; j < Columns; j++) sums[i][j] = fmaf(one[i], other[j], sums[i][j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < Rows; i++)
        for (int j = 0; j < Columns; j++) {
            const int r = row + y * Rows + i, s = column + x * Columns + j;
            if (r < m && s < n) c[(size_t)r * n + s] = as<T>(Op::of(sums[i][j] + as<float>(bias[s])));
        }
}

struct Causal { static constexpr bool masked = true; };
struct Full { static constexpr bool masked = false; };

/// A row of queries for an item, tiles of keys and values in local memory, and the softmax on the way.
template <typename T, typename Mask, int Dim, int Keys>
__global__ __launch_bounds__(64) void attention(const T *q, const T *k, const T *v, T *out, int rows, int length, float scale) {
    __shared__ T keys[Keys][Dim];
    __shared__ T values[Keys][Dim];
    const int row = blockIdx.x * 64 + threadIdx.x;
    const size_t head = (size_t)blockIdx.y * length * Dim;
    float query[Dim], sums[Dim], most = Largest::identity, sum = 0.0f;
#pragma unroll
    for (int d = 0; d < Dim; d++) {
        query[d] = row < rows ? as<float>(q[head + (size_t)row * Dim + d]) * scale : 0.0f;
        sums[d] = 0.0f;
    }
    for (int start = 0; start < length; start += Keys) {
        for (int i = threadIdx.x; i < Keys * Dim; i += 64) {
            const bool inside = start + i / Dim < length;
            keys[i / Dim][i % Dim] = inside ? k[head + (size_t)start * Dim + i] : as<T>(0);
            values[i / Dim][i % Dim] = inside ? v[head + (size_t)start * Dim + i] : as<T>(0);
        }
        __syncthreads();
        for (int j = 0; j < Keys && start + j < length; j++) {
            if (Mask::masked && start + j > row) break;
            float dot = 0.0f;
#pragma unroll
            for (int d = 0; d < Dim; d++) dot = fmaf(query[d], as<float>(keys[j][d]), dot);
            const float before = most;
            most = fmaxf(most, dot);
            const float faded = __expf(before - most), share = __expf(dot - most);
            sum = sum * faded + share;
#pragma unroll
            for (int d = 0; d < Dim; d++) sums[d] = fmaf(share, as<float>(values[j][d]), sums[d] * faded);
        }
        __syncthreads();
    }
    if (row < rows)
#pragma unroll
        for (int d = 0; d < Dim; d++) out[head + (size_t)row * Dim + d] = as<T>(sums[d] / sum);
}

template <typename T, int Dim>
__global__ void rotate(T *x, const float *angles, int rows) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
#pragma unroll
    for (int d = 0; d < Dim / 2; d++) {
        const float c = angles[(row * Dim / 2 + d) * 2], s = angles[(row * Dim / 2 + d) * 2 + 1];
        const float one = as<float>(x[(size_t)row * Dim + d]), other = as<float>(x[(size_t)row * Dim + d + Dim / 2]);
        x[(size_t)row * Dim + d] = as<T>(one * c - other * s);
        x[(size_t)row * Dim + d + Dim / 2] = as<T>(one * s + other * c);
    }
}

template <typename T, int Block>
__global__ __launch_bounds__(256) void quantise(const T *in, signed char *out, float *scales, int count) {
    constexpr int Each = Block / 256;
    const size_t start = (size_t)blockIdx.x * Block;
    float values[Each], most = 0.0f;
#pragma unroll
    for (int i = 0; i < Each; i++) {
        const size_t at = start + i * 256 + threadIdx.x;
        values[i] = at < count ? as<float>(in[at]) : 0.0f;
        most = fmaxf(most, fabsf(values[i]));
    }
    most = all_of<LargestMagnitude, 256>(most);
    if (threadIdx.x == 0) scales[blockIdx.x] = most / 127.0f;
#pragma unroll
    for (int i = 0; i < Each; i++) {
        const size_t at = start + i * 256 + threadIdx.x;
        if (at < count) out[at] = (signed char)floorf(values[i] * 127.0f / fmaxf(most, 1.0e-30f) + 0.5f);
    }
}

template <typename T, int Block>
__global__ __launch_bounds__(256) void dequantise(const signed char *in, const float *scales, T *out, int count) {
    const float scale = scales[blockIdx.x];
#pragma unroll
    for (int i = 0; i < Block / 256; i++) {
        const size_t at = (size_t)blockIdx.x * Block + i * 256 + threadIdx.x;
        if (at < count) out[at] = as<T>(in[at] * scale);
    }
}

template <typename T>
__global__ void adam(T *weights, const T *gradients, float *first, float *second, float rate, float beta, float gamma, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const float gradient = as<float>(gradients[i]);
        const float mean = first[i] * beta + gradient * (1.0f - beta);
        const float square = second[i] * gamma + gradient * gradient * (1.0f - gamma);
        first[i] = mean;
        second[i] = square;
        weights[i] = as<T>(as<float>(weights[i]) - rate * mean / (sqrtf(square) + 1.0e-8f));
    }
}
