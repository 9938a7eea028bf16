// Random numbers in kernels: https://docs.nvidia.com/cuda/curand/device-api-overview.html
//
// Philox gives the numbers that CUDA gives. The sequences of XORWOW begin elsewhere: how CUDA derives them from a seed is
// not documented. MRG32k3a, MTGP32, Sobol's sequences and discrete distributions are left to NVIDIA's headers.
#pragma once
#define __OFFLOAD_RANDOM static __device__ __forceinline__

struct curandStateXORWOW {
  unsigned int d, v[5];
  bool has_normal, has_normal_double;
  float normal;
  double normal_double;
};
typedef curandStateXORWOW curandStateXORWOW_t, curandState, curandState_t;

struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned int STATE;
  bool has_normal, has_normal_double;
  float normal;
  double normal_double;
};
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

// Marsaglia, Xorshift RNGs, 2003 (https://doi.org/10.18637/jss.v008.i14).
__OFFLOAD_RANDOM unsigned int curand(curandStateXORWOW *state) {
  unsigned int *v = state->v;
  unsigned int t = v[0] ^ (v[0] >> 2);
  for (int i = 0; i < 4; i++)
    v[i] = v[i + 1];
  v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
  state->d += 362437;
  return v[4] + state->d;
}
__OFFLOAD_RANDOM void skipahead(unsigned long long count, curandStateXORWOW *state) {
  for (; count > 0; count--)
    curand(state);
}
// Each word of the state is a hash (SplitMix64) of seed and sequence.
__OFFLOAD_RANDOM void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                                  curandStateXORWOW *state) {
  unsigned long long mix = seed + sequence * 0xd1342543de82ef95ull;
  unsigned int words[6];
  for (int i = 0; i < 6; i++) {
    mix += 0x9e3779b97f4a7c15ull;
    unsigned long long z = (mix ^ (mix >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    words[i] = (unsigned int)((z ^ (z >> 31)) >> 32);
  }
  state->d = words[5];
  for (int i = 0; i < 5; i++)
    state->v[i] = words[i];
  // All zero would stay so.
  state->v[0] |= 1;
  state->has_normal = state->has_normal_double = false;
  skipahead(offset, state);
}

// Salmon, Moraes, Dror and Shaw, Parallel Random Numbers: As Easy as 1, 2, 3, 2011.
__OFFLOAD_RANDOM uint4 curand_Philox4x32_10(uint4 c, uint2 k) {
#pragma unroll
  for (int round = 0; round < 10; round++) {
    unsigned long long first = 0xd2511f53ull * c.x, second = 0xcd9e8d57ull * c.z;
    c = uint4{(unsigned int)(second >> 32) ^ c.y ^ k.x, (unsigned int)second,
              (unsigned int)(first >> 32) ^ c.w ^ k.y, (unsigned int)first};
    k.x += 0x9e3779b9;
    k.y += 0xbb67ae85;
  }
  return c;
}
// The counter is a number of 128 bits, of which the upper half counts sequences.
__OFFLOAD_RANDOM void __offload_advance(curandStatePhilox4_32_10 *state, unsigned long long count) {
  uint4 &c = state->ctr;
  unsigned long long low = c.x | (unsigned long long)c.y << 32, high = c.z | (unsigned long long)c.w << 32;
  low += count;
  high += low < count;
  c = uint4{(unsigned int)low, (unsigned int)(low >> 32), (unsigned int)high, (unsigned int)(high >> 32)};
  state->output = curand_Philox4x32_10(c, state->key);
}
__OFFLOAD_RANDOM void skipahead(unsigned long long count, curandStatePhilox4_32_10 *state) {
  state->STATE += (unsigned int)(count % 4);
  unsigned int carry = state->STATE / 4;
  state->STATE %= 4;
  __offload_advance(state, count / 4 + carry);
}
__OFFLOAD_RANDOM void skipahead_sequence(unsigned long long count, curandStatePhilox4_32_10 *state) {
  uint4 &c = state->ctr;
  unsigned long long high = (c.z | (unsigned long long)c.w << 32) + count;
  c.z = (unsigned int)high;
  c.w = (unsigned int)(high >> 32);
  state->output = curand_Philox4x32_10(c, state->key);
}
__OFFLOAD_RANDOM void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                                  curandStatePhilox4_32_10 *state) {
  state->ctr = uint4{0, 0, 0, 0};
  state->key = uint2{(unsigned int)seed, (unsigned int)(seed >> 32)};
  state->STATE = 0;
  state->has_normal = state->has_normal_double = false;
  skipahead_sequence(sequence, state);
  skipahead(offset, state);
}
__OFFLOAD_RANDOM unsigned int __offload_word(const uint4 &words, unsigned int index) {
  return index == 0 ? words.x : index == 1 ? words.y : index == 2 ? words.z : words.w;
}
__OFFLOAD_RANDOM unsigned int curand(curandStatePhilox4_32_10 *state) {
  unsigned int word = __offload_word(state->output, state->STATE++);
  if (state->STATE == 4) {
    state->STATE = 0;
    __offload_advance(state, 1);
  }
  return word;
}
__OFFLOAD_RANDOM uint4 curand4(curandStatePhilox4_32_10 *state) {
  uint4 now = state->output;
  __offload_advance(state, 1);
  const uint4 &next = state->output;
  switch (state->STATE) {
  case 0: return now;
  case 1: return uint4{now.y, now.z, now.w, next.x};
  case 2: return uint4{now.z, now.w, next.x, next.y};
  default: return uint4{now.w, next.x, next.y, next.z};
  }
}

// More than 0, and at most 1.
__OFFLOAD_RANDOM float __offload_uniform(unsigned int word) { return word * 0x1p-32f + 0x1p-33f; }
__OFFLOAD_RANDOM double __offload_uniform(unsigned int low, unsigned int high) {
  unsigned long long word = low ^ (unsigned long long)high << 21;
  return word * 0x1p-53 + 0x1p-54;
}
// Box and Muller's transform.
__OFFLOAD_RANDOM float2 __offload_normal(unsigned int first, unsigned int second) {
  float s, c, length = sqrtf(-2 * logf(__offload_uniform(first)));
  sincosf(__offload_uniform(second) * 6.2831853f, &s, &c);
  return float2{s * length, c * length};
}
__OFFLOAD_RANDOM double2 __offload_normal(const uint4 &words) {
  double s, c, length = sqrt(-2 * log(__offload_uniform(words.x, words.y)));
  sincos(__offload_uniform(words.z, words.w) * 6.283185307179586, &s, &c);
  return double2{s * length, c * length};
}
__OFFLOAD_RANDOM uint4 __offload_words(curandStateXORWOW *state) {
  uint4 words;
  words.x = curand(state);
  words.y = curand(state);
  words.z = curand(state);
  words.w = curand(state);
  return words;
}
__OFFLOAD_RANDOM uint4 __offload_words(curandStatePhilox4_32_10 *state) { return curand4(state); }
// Products of uniform numbers (Knuth), of which 16 in the mean are taken at a time: exp(-16) is no denormal number.
template <typename STATE> __OFFLOAD_RANDOM unsigned int __offload_poisson(STATE *state, double mean) {
  if (mean > 4096) {
    double v = mean + sqrt(mean) * __offload_normal(__offload_words(state)).x + 0.5;
    return v > 0 ? (unsigned int)v : 0;
  }
  unsigned int count = 0;
  for (; mean > 0; mean -= 16) {
    float end = expf(mean < 16 ? -(float)mean : -16.0f), product = __offload_uniform(curand(state));
    for (; product > end; count++)
      product *= __offload_uniform(curand(state));
  }
  return count;
}

#define __OFFLOAD_DISTRIBUTIONS(STATE) \
  __OFFLOAD_RANDOM float curand_uniform(STATE *state) { return __offload_uniform(curand(state)); } \
  __OFFLOAD_RANDOM double curand_uniform_double(STATE *state) { \
    unsigned int low = curand(state); \
    return __offload_uniform(low, curand(state)); \
  } \
  __OFFLOAD_RANDOM float2 curand_normal2(STATE *state) { \
    unsigned int first = curand(state); \
    return __offload_normal(first, curand(state)); \
  } \
  __OFFLOAD_RANDOM double2 curand_normal2_double(STATE *state) { return __offload_normal(__offload_words(state)); } \
  __OFFLOAD_RANDOM float curand_normal(STATE *state) { \
    state->has_normal = !state->has_normal; \
    if (!state->has_normal) \
      return state->normal; \
    float2 pair = curand_normal2(state); \
    state->normal = pair.y; \
    return pair.x; \
  } \
  __OFFLOAD_RANDOM double curand_normal_double(STATE *state) { \
    state->has_normal_double = !state->has_normal_double; \
    if (!state->has_normal_double) \
      return state->normal_double; \
    double2 pair = curand_normal2_double(state); \
    state->normal_double = pair.y; \
    return pair.x; \
  } \
  __OFFLOAD_RANDOM unsigned int curand_poisson(STATE *state, double mean) { return __offload_poisson(state, mean); } \
  __OFFLOAD_RANDOM float2 curand_log_normal2(STATE *state, float mean, float deviation) { \
    float2 pair = curand_normal2(state); \
    return float2{expf(mean + deviation * pair.x), expf(mean + deviation * pair.y)}; \
  } \
  __OFFLOAD_RANDOM double2 curand_log_normal2_double(STATE *state, double mean, double deviation) { \
    double2 pair = curand_normal2_double(state); \
    return double2{exp(mean + deviation * pair.x), exp(mean + deviation * pair.y)}; \
  } \
  __OFFLOAD_RANDOM float curand_log_normal(STATE *state, float mean, float deviation) { \
    return expf(mean + deviation * curand_normal(state)); \
  } \
  __OFFLOAD_RANDOM double curand_log_normal_double(STATE *state, double mean, double deviation) { \
    return exp(mean + deviation * curand_normal_double(state)); \
  }
__OFFLOAD_DISTRIBUTIONS(curandStateXORWOW)
__OFFLOAD_DISTRIBUTIONS(curandStatePhilox4_32_10)
#undef __OFFLOAD_DISTRIBUTIONS

__OFFLOAD_RANDOM float4 curand_uniform4(curandStatePhilox4_32_10 *state) {
  uint4 words = curand4(state);
  return float4{__offload_uniform(words.x), __offload_uniform(words.y), __offload_uniform(words.z),
                __offload_uniform(words.w)};
}
__OFFLOAD_RANDOM double2 curand_uniform2_double(curandStatePhilox4_32_10 *state) {
  uint4 words = curand4(state);
  return double2{__offload_uniform(words.x, words.y), __offload_uniform(words.z, words.w)};
}
__OFFLOAD_RANDOM float4 curand_normal4(curandStatePhilox4_32_10 *state) {
  uint4 words = curand4(state);
  float2 first = __offload_normal(words.x, words.y), second = __offload_normal(words.z, words.w);
  return float4{first.x, first.y, second.x, second.y};
}
#undef __OFFLOAD_RANDOM
