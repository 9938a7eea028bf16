/* Images and samplers of OpenCL C for the target `host`
 * (https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_C.html#image-addressing-and-filtering).
 *
 * A kernel has an image as a pointer to `struct offload_image`, and a sampler as a number of the size of a pointer, made of
 * the constants CLK_. image_functions.rs writes the functions that a module calls, which are those of OpenCL C's names, as
 * calls of the functions here.
 *
 * Where the specification leaves a read unspecified, as beside an image without an addressing mode or of a format of another
 * class, it gives the border color or 0; a write beside an image does nothing.
 */
#pragma STDC FP_CONTRACT OFF
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f2 __attribute__((ext_vector_type(2)));
typedef float f4 __attribute__((ext_vector_type(4)));
typedef int i2 __attribute__((ext_vector_type(2)));
typedef int i4 __attribute__((ext_vector_type(4)));
typedef unsigned int u4 __attribute__((ext_vector_type(4)));
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef signed char s8;
typedef short s16;

/* The layout is that of `ImageDescriptor` of offload-rt. The layers of an array are where the dimension behind its last one
 * would be. Pitches are in bytes. */
struct offload_image {
  u8 *elements;
  u32 extent[3], order, type, element_size, channels;
  u64 row_pitch, slice_pitch;
};
typedef const struct offload_image *image_t;
typedef const void *sampler_t;

/* CL_R and so on. */
enum { R = 0x10B0, A, RG, RA, RGB, RGBA, BGRA, ARGB, INTENSITY, LUMINANCE, RX, RGX, RGBX, SRGB = 0x10BF, SRGBX, SRGBA, SBGRA, ABGR };
/* CL_SNORM_INT8 and so on. */
enum {
  SNORM8 = 0x10D0, SNORM16, UNORM8, UNORM16, UNORM565, UNORM555, UNORM101010, SIGNED8, SIGNED16, SIGNED32, UNSIGNED8,
  UNSIGNED16, UNSIGNED32, HALF, FLOAT, UNORM1010102 = 0x10E0
};
/* CLK_ADDRESS_CLAMP_TO_EDGE and so on. */
enum { NORMALIZED = 1, ADDRESS = 0xE, CLAMP_TO_EDGE = 2, REPEAT = 6, MIRRORED = 8, LINEAR = 0x20 };

#define INLINE static inline __attribute__((always_inline))
#define LOAD(type, from) ({ type loaded; __builtin_memcpy(&loaded, from, sizeof(type)); loaded; })
#define STORE(type, to, value) do { type stored = (type)(value); __builtin_memcpy(to, &stored, sizeof(type)); } while (0)

/* One, two or four channels of a type, which are as many numbers in memory: load_u8 and so on. */
#define CHANNELS(type, name)                                                             \
  typedef type name##x4 __attribute__((ext_vector_type(4)));                             \
  INLINE name##x4 load_##name(const u8 *at, u32 channels) {                              \
    if (channels == 4) return LOAD(name##x4, at);                                        \
    name##x4 c = 0;                                                                      \
    c.x = LOAD(type, at);                                                                \
    if (channels == 2) c.y = LOAD(type, at + sizeof(type));                              \
    return c;                                                                            \
  }                                                                                      \
  INLINE void store_##name(u8 *at, u32 channels, name##x4 c) {                           \
    if (channels == 4) { STORE(name##x4, at, c); return; }                               \
    STORE(type, at, c.x);                                                                \
    if (channels == 2) STORE(type, at + sizeof(type), c.y);                              \
  }
CHANNELS(s8, s8)
CHANNELS(s16, s16)
CHANNELS(int, s32)
CHANNELS(u8, u8)
CHANNELS(u16, u16)
CHANNELS(u32, u32)
CHANNELS(_Float16, half)
CHANNELS(float, float)
#define AS(vector, value) __builtin_convertvector(value, vector)

/* The channels of an element in the order of memory, as red, green, blue and alpha. */
#define ORDERED(name, vector, one)                                  \
  static vector name(vector c, u32 order) {                         \
    if (order == RGBA) return c;                                    \
    switch (order) {                                                \
    case A: return (vector){0, 0, 0, c.x};                          \
    case RG: case RGX: return (vector){c.x, c.y, 0, one};           \
    case RA: return (vector){c.x, 0, 0, c.y};                       \
    case RGB: case RGBX: return (vector){c.x, c.y, c.z, one};       \
    case BGRA: return c.zyxw;                                       \
    case ARGB: return c.yzwx;                                       \
    case ABGR: return c.wzyx;                                       \
    case INTENSITY: return c.xxxx;                                  \
    case LUMINANCE: return (vector){c.x, c.x, c.x, one};            \
    default: return (vector){c.x, 0, 0, one};                       \
    }                                                               \
  }
ORDERED(ordered_numbers, f4, 1.0f)
ORDERED(ordered_i, i4, 1)
ORDERED(ordered_u, u4, 1u)

/* sRGB to linear numbers and back, but for alpha
 * (https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_C.html#conversion-rules-for-srgba-and-sbgra-images).
 * Powers are roots by Newton's method, as there is no mathematical library here: x to the power of 2.4 is x * x times the
 * square of its fifth root, and c to the power of 5/12 that of its fourth root to the power of 5/3. From these starts, three
 * or four steps are within 2e-7. */
static f4 linear_of(f4 s) {
  f4 x = (s + 0.055f) / 1.055f, root = 0.58f + 0.42f * x;
  root -= (root - x / (root * root * root * root)) * 0.2f;
  root -= (root - x / (root * root * root * root)) * 0.2f;
  root -= (root - x / (root * root * root * root)) * 0.2f;
  root -= (root - x / (root * root * root * root)) * 0.2f;
  f4 c = s <= 0.04045f ? s / 12.92f : x * x * root * root;
  c.w = s.w;
  return c;
}
static f4 srgb_of(f4 color) {
  f4 number = color == color ? color : (f4)0;
  f4 c = __builtin_elementwise_min(__builtin_elementwise_max(number, (f4)0), (f4)1);
  f4 x = __builtin_elementwise_max(c, (f4)0.0031308f);
  f4 q = __builtin_elementwise_sqrt(__builtin_elementwise_sqrt(x));
  f4 root = 0.5f + 0.5f * q;
  root -= (root - q / (root * root)) * (1.0f / 3.0f);
  root -= (root - q / (root * root)) * (1.0f / 3.0f);
  root -= (root - q / (root * root)) * (1.0f / 3.0f);
  f4 s = c < 0.0031308f ? c * 12.92f : 1.055f * q * root * root - 0.055f;
  s.w = color.w;
  return s;
}

static f4 ordered_f(f4 c, u32 order) {
  switch (order) {
  case SRGB: case SRGBX: c.w = 1.0f; return linear_of(c);
  case SRGBA: return linear_of(c);
  case SBGRA: return linear_of(c.zyxw);
  default: return ordered_numbers(c, order);
  }
}

/* The opposite. */
#define STORED(name, vector)                                        \
  static vector name(vector c, u32 order) {                         \
    switch (order) {                                                \
    case A: return c.wwww;                                          \
    case RA: return c.xwww;                                         \
    case BGRA: return c.zyxw;                                       \
    case ARGB: return c.wxyz;                                       \
    case ABGR: return c.wzyx;                                       \
    default: return c;                                              \
    }                                                               \
  }
STORED(stored_numbers, f4)
STORED(stored_i, i4)
STORED(stored_u, u4)

static f4 stored_f(f4 c, u32 order) {
  switch (order) {
  case SRGB: case SRGBX: case SRGBA: return srgb_of(c);
  case SBGRA: return srgb_of(c).zyxw;
  default: return stored_numbers(c, order);
  }
}

/* Three bytes, of sRGB alone. */
static u8x4 load_rgb(const u8 *at) { return (u8x4){at[0], at[1], at[2], 0}; }
static void store_rgb(u8 *at, u8x4 c) { at[0] = c.x, at[1] = c.y, at[2] = c.z; }

static f4 load_f(image_t image, const u8 *at) {
  u32 n = image->channels, bits;
  f4 c = 0;
  switch (image->type) {
  case SNORM8: c = __builtin_elementwise_max(AS(f4, load_s8(at, n)) / 127.0f, (f4)-1.0f); break;
  case SNORM16: c = __builtin_elementwise_max(AS(f4, load_s16(at, n)) / 32767.0f, (f4)-1.0f); break;
  case UNORM8: c = AS(f4, n == 3 ? load_rgb(at) : load_u8(at, n)) / 255.0f; break;
  case UNORM16: c = AS(f4, load_u16(at, n)) / 65535.0f; break;
  case HALF: c = AS(f4, load_half(at, n)); break;
  case FLOAT: c = load_float(at, n); break;
  case UNORM565:
    bits = LOAD(u16, at);
    c = (f4){(bits >> 11) / 31.0f, (bits >> 5 & 63) / 63.0f, (bits & 31) / 31.0f, 0};
    break;
  case UNORM555:
    bits = LOAD(u16, at);
    c = (f4){(bits >> 10 & 31) / 31.0f, (bits >> 5 & 31) / 31.0f, (bits & 31) / 31.0f, 0};
    break;
  case UNORM101010:
    bits = LOAD(u32, at);
    c = (f4){(bits >> 20 & 1023) / 1023.0f, (bits >> 10 & 1023) / 1023.0f, (bits & 1023) / 1023.0f, 0};
    break;
  case UNORM1010102:
    bits = LOAD(u32, at);
    c = (f4){(bits >> 22) / 1023.0f, (bits >> 12 & 1023) / 1023.0f, (bits >> 2 & 1023) / 1023.0f, (bits & 3) / 3.0f};
    break;
  }
  return ordered_f(c, image->order);
}

static i4 load_i(image_t image, const u8 *at) {
  u32 n = image->channels;
  i4 c = 0;
  switch (image->type) {
  case SIGNED8: c = AS(i4, load_s8(at, n)); break;
  case SIGNED16: c = AS(i4, load_s16(at, n)); break;
  case SIGNED32: c = load_s32(at, n); break;
  }
  return ordered_i(c, image->order);
}

static u4 load_u(image_t image, const u8 *at) {
  u32 n = image->channels;
  u4 c = 0;
  switch (image->type) {
  case UNSIGNED8: c = AS(u4, load_u8(at, n)); break;
  case UNSIGNED16: c = AS(u4, load_u16(at, n)); break;
  case UNSIGNED32: c = load_u32(at, n); break;
  }
  return ordered_u(c, image->order);
}

/* `x` times the largest number, to the nearest, the even one of two, between the limits; 0 for what is no number. */
INLINE f4 scaled(f4 x, float least, float most) {
  f4 number = x == x ? x : (f4)0;
  return __builtin_elementwise_min(__builtin_elementwise_max(__builtin_elementwise_rint(number * most), (f4)least), (f4)most);
}

static int limited(int x, int least, int most) { return x < least ? least : x > most ? most : x; }
#define LIMITED(vector, c, least, most) \
  __builtin_elementwise_min(__builtin_elementwise_max(c, (vector)(least)), (vector)(most))

static void store_f(image_t image, u8 *at, f4 color) {
  u32 n = image->channels;
  f4 c = stored_f(color, image->order);
  u4 bits;
  switch (image->type) {
  case SNORM8: store_s8(at, n, AS(s8x4, scaled(c, -128, 127))); break;
  case SNORM16: store_s16(at, n, AS(s16x4, scaled(c, -32768, 32767))); break;
  case UNORM8: {
    u8x4 bytes = AS(u8x4, scaled(c, 0, 255));
    if (n == 3) store_rgb(at, bytes); else store_u8(at, n, bytes);
    break;
  }
  case UNORM16: store_u16(at, n, AS(u16x4, scaled(c, 0, 65535))); break;
  case HALF: store_half(at, n, AS(halfx4, c)); break;
  case FLOAT: store_float(at, n, c); break;
  case UNORM565:
    bits = AS(u4, scaled(c, 0, 31));
    STORE(u16, at, bits.x << 11 | AS(u4, scaled(c, 0, 63)).y << 5 | bits.z);
    break;
  case UNORM555:
    bits = AS(u4, scaled(c, 0, 31));
    STORE(u16, at, bits.x << 10 | bits.y << 5 | bits.z);
    break;
  case UNORM101010:
    bits = AS(u4, scaled(c, 0, 1023));
    STORE(u32, at, bits.x << 20 | bits.y << 10 | bits.z);
    break;
  case UNORM1010102:
    bits = AS(u4, scaled(c, 0, 1023));
    STORE(u32, at, bits.x << 22 | bits.y << 12 | bits.z << 2 | AS(u4, scaled(c, 0, 3)).w);
    break;
  }
}

static void store_i(image_t image, u8 *at, i4 color) {
  u32 n = image->channels;
  i4 c = stored_i(color, image->order);
  switch (image->type) {
  case SIGNED8: store_s8(at, n, AS(s8x4, LIMITED(i4, c, -128, 127))); break;
  case SIGNED16: store_s16(at, n, AS(s16x4, LIMITED(i4, c, -32768, 32767))); break;
  case SIGNED32: store_s32(at, n, c); break;
  }
}

static void store_u(image_t image, u8 *at, u4 color) {
  u32 n = image->channels;
  u4 c = stored_u(color, image->order);
  switch (image->type) {
  case UNSIGNED8: store_u8(at, n, AS(u8x4, LIMITED(u4, c, 0, 255))); break;
  case UNSIGNED16: store_u16(at, n, AS(u16x4, LIMITED(u4, c, 0, 65535))); break;
  case UNSIGNED32: store_u32(at, n, c); break;
  }
}

/* Null for what is beside the image. */
INLINE u8 *element(image_t image, i4 at) {
  int is_inside = (u32)at.x < image->extent[0] && (u32)at.y < image->extent[1] && (u32)at.z < image->extent[2];
  u64 offset = (u64)at.z * image->slice_pitch + (u64)at.y * image->row_pitch + (u64)at.x * image->element_size;
  return is_inside ? image->elements + offset : 0;
}

static int border_alpha(u32 order) { return order == R || order == RG || order == RGB || order == LUMINANCE || order == SRGB; }

/* The element, or the border color. */
#define ELEMENT(name, vector, load)                                       \
  INLINE vector name(image_t image, i4 at) {                              \
    const u8 *found = element(image, at);                                 \
    return found ? load(image, found) : (vector){0, 0, 0, border_alpha(image->order)}; \
  }
ELEMENT(element_f, f4, load_f)
ELEMENT(element_i, i4, load_i)
ELEMENT(element_u, u4, load_u)

/* Whole numbers far beside each image for those that int does not have, and for what is no number. */
static int whole(float x) { return x >= -0x1p30f ? x < 0x1p30f ? (int)x : 1 << 30 : -(1 << 30); }

/* The elements of one dimension that a read needs, and the weight of the second one. */
struct axis { int first, second; float weight; };

static int addressed(int i, int size, u32 sampler) {
  return (sampler & ADDRESS) == CLAMP_TO_EDGE ? limited(i, 0, size - 1) : i;
}

INLINE struct axis nearest(float c, int size, u32 sampler) {
  int i;
  if ((sampler & ADDRESS) == REPEAT) {
    float u = (c - __builtin_floorf(c)) * (float)size;
    i = whole(__builtin_floorf(u));
    if (i > size - 1) i = i - size;
  } else if ((sampler & ADDRESS) == MIRRORED) {
    float mirrored = __builtin_fabsf(c - 2.0f * __builtin_rintf(0.5f * c));
    i = whole(__builtin_floorf(mirrored * (float)size));
    if (i > size - 1) i = size - 1;
  } else {
    float u = sampler & NORMALIZED ? c * (float)size : c;
    i = addressed(whole(__builtin_floorf(u)), size, sampler);
  }
  return (struct axis){i, i, 0};
}

INLINE struct axis linear(float c, int size, u32 sampler) {
  float u;
  if ((sampler & ADDRESS) == REPEAT)
    u = (c - __builtin_floorf(c)) * (float)size;
  else if ((sampler & ADDRESS) == MIRRORED)
    u = __builtin_fabsf(c - 2.0f * __builtin_rintf(0.5f * c)) * (float)size;
  else
    u = sampler & NORMALIZED ? c * (float)size : c;
  u = u - 0.5f;
  float start = __builtin_floorf(u);
  int i0 = whole(start), i1 = i0 + 1;
  if ((sampler & ADDRESS) == REPEAT) {
    if (i0 < 0) i0 = size + i0;
    if (i1 > size - 1) i1 = i1 - size;
  } else if ((sampler & ADDRESS) == MIRRORED) {
    if (i0 < 0) i0 = 0;
    if (i1 > size - 1) i1 = size - 1;
  } else {
    i0 = addressed(i0, size, sampler);
    i1 = addressed(i1, size, sampler);
  }
  return (struct axis){i0, i1, u - start};
}

/* The layer of an array of images of so many dimensions; 0 without layers. Written without loops, which are not unrolled
 * before work-items become loops. */
INLINE int layer(image_t image, int index, int dimensions, int is_array) {
  return is_array ? limited(index, 0, (int)image->extent[dimensions] - 1) : 0;
}
INLINE i4 position(int x, int y, int z, int layer, int dimensions) {
  return (i4){x, dimensions > 1 ? y : layer, dimensions > 2 ? z : dimensions > 1 ? layer : 0, 0};
}
INLINE int nearest_layer(f4 c, int dimensions) { return whole(__builtin_rintf(dimensions > 1 ? c.z : c.y)); }

/* `c` in elements, of an image of so many dimensions and, if it is an array, layers behind them. */
INLINE i4 nearest_element(image_t image, u32 sampler, f4 c, int dimensions, int is_array) {
  int x = nearest(c.x, (int)image->extent[0], sampler).first, y = 0, z = 0;
  if (dimensions > 1) y = nearest(c.y, (int)image->extent[1], sampler).first;
  if (dimensions > 2) z = nearest(c.z, (int)image->extent[2], sampler).first;
  return position(x, y, z, layer(image, nearest_layer(c, dimensions), dimensions, is_array), dimensions);
}

INLINE i4 addressed_element(image_t image, u32 sampler, i4 c, int dimensions, int is_array) {
  int x = addressed(c.x, (int)image->extent[0], sampler), y = 0, z = 0;
  if (dimensions > 1) y = addressed(c.y, (int)image->extent[1], sampler);
  if (dimensions > 2) z = addressed(c.z, (int)image->extent[2], sampler);
  int index = dimensions > 1 ? c.z : c.y;
  return position(x, y, z, layer(image, index, dimensions, is_array), dimensions);
}

INLINE f4 filtered(image_t image, u32 sampler, f4 c, int dimensions, int is_array) {
  struct axis x = linear(c.x, (int)image->extent[0], sampler), y = {0, 0, 0}, z = {0, 0, 0};
  if (dimensions > 1) y = linear(c.y, (int)image->extent[1], sampler);
  if (dimensions > 2) z = linear(c.z, (int)image->extent[2], sampler);
  int of_layer = layer(image, nearest_layer(c, dimensions), dimensions, is_array);
#define CORNER(i, j, k, by) \
  ((by) * element_f(image, position(x.i, y.j, z.k, of_layer, dimensions)))
#define ROW(j, k, by) \
  (CORNER(first, j, k, (1.0f - x.weight) * (by)) + CORNER(second, j, k, x.weight * (by)))
  f4 sum = ROW(first, first, (1.0f - y.weight) * (1.0f - z.weight));
  if (dimensions > 1) sum += ROW(second, first, y.weight * (1.0f - z.weight));
  if (dimensions > 2) sum += ROW(first, second, (1.0f - y.weight) * z.weight) + ROW(second, second, y.weight * z.weight);
  return sum;
}

INLINE f4 read_f(image_t image, sampler_t with, f4 c, int dimensions, int is_array) {
  u32 sampler = (u32)(u64)with;
  if (sampler & LINEAR) return filtered(image, sampler, c, dimensions, is_array);
  return element_f(image, nearest_element(image, sampler, c, dimensions, is_array));
}
INLINE i4 read_i(image_t image, sampler_t with, f4 c, int dimensions, int is_array) {
  return element_i(image, nearest_element(image, (u32)(u64)with, c, dimensions, is_array));
}
INLINE u4 read_ui(image_t image, sampler_t with, f4 c, int dimensions, int is_array) {
  return element_u(image, nearest_element(image, (u32)(u64)with, c, dimensions, is_array));
}
INLINE h4 read_h(image_t image, sampler_t with, f4 c, int dimensions, int is_array) {
  return __builtin_convertvector(read_f(image, with, c, dimensions, is_array), h4);
}

/* The same with coordinates that are whole numbers; reads without a sampler have a null one. */
INLINE f4 fetch_f(image_t image, sampler_t with, i4 c, int dimensions, int is_array) {
  return element_f(image, addressed_element(image, (u32)(u64)with, c, dimensions, is_array));
}
INLINE i4 fetch_i(image_t image, sampler_t with, i4 c, int dimensions, int is_array) {
  return element_i(image, addressed_element(image, (u32)(u64)with, c, dimensions, is_array));
}
INLINE u4 fetch_ui(image_t image, sampler_t with, i4 c, int dimensions, int is_array) {
  return element_u(image, addressed_element(image, (u32)(u64)with, c, dimensions, is_array));
}
INLINE h4 fetch_h(image_t image, sampler_t with, i4 c, int dimensions, int is_array) {
  return __builtin_convertvector(fetch_f(image, with, c, dimensions, is_array), h4);
}

INLINE void write_f(image_t image, i4 at, f4 color) {
  u8 *found = element(image, at);
  if (found) store_f(image, found, color);
}
INLINE void write_i(image_t image, i4 at, i4 color) {
  u8 *found = element(image, at);
  if (found) store_i(image, found, color);
}
INLINE void write_ui(image_t image, i4 at, u4 color) {
  u8 *found = element(image, at);
  if (found) store_u(image, found, color);
}
INLINE void write_h(image_t image, i4 at, h4 color) { write_f(image, at, __builtin_convertvector(color, f4)); }
