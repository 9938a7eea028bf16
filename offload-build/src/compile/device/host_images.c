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

/* The layout is that of `ImageDescriptor` of offload-rt. The layers of an array are where the dimension behind its last one
 * would be. Pitches are in bytes. */
struct offload_image {
  u8 *elements;
  u32 extent[3], order, type, element_size;
  u64 row_pitch, slice_pitch;
};
typedef const struct offload_image *image_t;
typedef const void *sampler_t;

/* CL_R and so on. */
enum { R = 0x10B0, A, RG, RA, RGB, RGBA, BGRA, ARGB, INTENSITY, LUMINANCE, RX, RGX, RGBX, ABGR = 0x10C3 };
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

/* The channels of an element in the order of memory, as red, green, blue and alpha. */
#define ORDERED(name, vector, one)                                  \
  static vector name(vector c, u32 order) {                         \
    switch (order) {                                                \
    case A: return (vector){0, 0, 0, c.x};                          \
    case RG: case RGX: return (vector){c.x, c.y, 0, one};           \
    case RA: return (vector){c.x, 0, 0, c.y};                       \
    case RGB: case RGBX: return (vector){c.x, c.y, c.z, one};       \
    case RGBA: return c;                                            \
    case BGRA: return c.zyxw;                                       \
    case ARGB: return c.yzwx;                                       \
    case ABGR: return c.wzyx;                                       \
    case INTENSITY: return c.xxxx;                                  \
    case LUMINANCE: return (vector){c.x, c.x, c.x, one};            \
    default: return (vector){c.x, 0, 0, one};                       \
    }                                                               \
  }
ORDERED(ordered_f, f4, 1.0f)
ORDERED(ordered_i, i4, 1)
ORDERED(ordered_u, u4, 1u)

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
STORED(stored_f, f4)
STORED(stored_i, i4)
STORED(stored_u, u4)

static int channels(u32 order) {
  switch (order) {
  case RG: case RA: case RGX: return 2;
  case RGB: case RGBX: return 3;
  case RGBA: case BGRA: case ARGB: case ABGR: return 4;
  default: return 1;
  }
}

#define EACH(type, value) for (int k = 0; k < count; k++) { type x = LOAD(type, at + k * sizeof(type)); c[k] = value; } break
static f4 load_f(image_t image, const u8 *at) {
  int count = channels(image->order);
  f4 c = 0;
  u32 bits;
  switch (image->type) {
  case SNORM8: EACH(signed char, __builtin_fmaxf(-1.0f, x / 127.0f));
  case SNORM16: EACH(short, __builtin_fmaxf(-1.0f, x / 32767.0f));
  case UNORM8: EACH(u8, x / 255.0f);
  case UNORM16: EACH(u16, x / 65535.0f);
  case HALF: EACH(_Float16, (float)x);
  case FLOAT: EACH(float, x);
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
  int count = channels(image->order);
  i4 c = 0;
  switch (image->type) {
  case SIGNED8: EACH(signed char, x);
  case SIGNED16: EACH(short, x);
  case SIGNED32: EACH(int, x);
  }
  return ordered_i(c, image->order);
}

static u4 load_u(image_t image, const u8 *at) {
  int count = channels(image->order);
  u4 c = 0;
  switch (image->type) {
  case UNSIGNED8: EACH(u8, x);
  case UNSIGNED16: EACH(u16, x);
  case UNSIGNED32: EACH(u32, x);
  }
  return ordered_u(c, image->order);
}

/* `x` times the largest number, to the nearest, the even one of two, between the limits; 0 for what is no number. */
static float scaled(float x, float least, float most) {
  if (x != x) return 0;
  x = __builtin_rintf(x * most);
  return x < least ? least : x > most ? most : x;
}
static int limited(int x, int least, int most) { return x < least ? least : x > most ? most : x; }
static u32 bits_of(float x, u32 most) { return (u32)scaled(x, 0, (float)most); }

#undef EACH
#define EACH(type, value) for (int k = 0; k < count; k++) STORE(type, at + k * sizeof(type), value); break
static void store_f(image_t image, u8 *at, f4 color) {
  int count = channels(image->order);
  f4 c = stored_f(color, image->order);
  switch (image->type) {
  case SNORM8: EACH(signed char, scaled(c[k], -128, 127));
  case SNORM16: EACH(short, scaled(c[k], -32768, 32767));
  case UNORM8: EACH(u8, scaled(c[k], 0, 255));
  case UNORM16: EACH(u16, scaled(c[k], 0, 65535));
  case HALF: EACH(_Float16, c[k]);
  case FLOAT: EACH(float, c[k]);
  case UNORM565: STORE(u16, at, bits_of(c.x, 31) << 11 | bits_of(c.y, 63) << 5 | bits_of(c.z, 31)); break;
  case UNORM555: STORE(u16, at, bits_of(c.x, 31) << 10 | bits_of(c.y, 31) << 5 | bits_of(c.z, 31)); break;
  case UNORM101010:
    STORE(u32, at, bits_of(c.x, 1023) << 20 | bits_of(c.y, 1023) << 10 | bits_of(c.z, 1023));
    break;
  case UNORM1010102:
    STORE(u32, at, bits_of(c.x, 1023) << 22 | bits_of(c.y, 1023) << 12 | bits_of(c.z, 1023) << 2 | bits_of(c.w, 3));
    break;
  }
}

static void store_i(image_t image, u8 *at, i4 color) {
  int count = channels(image->order);
  i4 c = stored_i(color, image->order);
  switch (image->type) {
  case SIGNED8: EACH(signed char, limited(c[k], -128, 127));
  case SIGNED16: EACH(short, limited(c[k], -32768, 32767));
  case SIGNED32: EACH(int, c[k]);
  }
}

static void store_u(image_t image, u8 *at, u4 color) {
  int count = channels(image->order);
  u4 c = stored_u(color, image->order);
  switch (image->type) {
  case UNSIGNED8: EACH(u8, c[k] > 255 ? 255 : c[k]);
  case UNSIGNED16: EACH(u16, c[k] > 65535 ? 65535 : c[k]);
  case UNSIGNED32: EACH(u32, c[k]);
  }
}

/* Null for what is beside the image. */
INLINE u8 *element(image_t image, i4 at) {
  int is_inside = (u32)at.x < image->extent[0] && (u32)at.y < image->extent[1] && (u32)at.z < image->extent[2];
  u64 offset = (u64)at.z * image->slice_pitch + (u64)at.y * image->row_pitch + (u64)at.x * image->element_size;
  return is_inside ? image->elements + offset : 0;
}

static int border_alpha(u32 order) { return order == R || order == RG || order == RGB || order == LUMINANCE; }

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

static struct axis nearest(float c, int size, u32 sampler) {
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

static struct axis linear(float c, int size, u32 sampler) {
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

INLINE int layer(int index, u32 count) { return limited(index, 0, (int)count - 1); }

/* `c` in elements, of an image of so many dimensions and, if it is an array, layers behind them. */
INLINE i4 nearest_element(image_t image, u32 sampler, f4 c, int dimensions, int is_array) {
  i4 at = 0;
  for (int d = 0; d < dimensions; d++) at[d] = nearest(c[d], (int)image->extent[d], sampler).first;
  if (is_array) at[dimensions] = layer(whole(__builtin_rintf(c[dimensions])), image->extent[dimensions]);
  return at;
}

INLINE i4 addressed_element(image_t image, u32 sampler, i4 c, int dimensions, int is_array) {
  i4 at = 0;
  for (int d = 0; d < dimensions; d++) at[d] = addressed(c[d], (int)image->extent[d], sampler);
  if (is_array) at[dimensions] = layer(c[dimensions], image->extent[dimensions]);
  return at;
}

INLINE f4 filtered(image_t image, u32 sampler, f4 c, int dimensions, int is_array) {
  struct axis axes[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  for (int d = 0; d < dimensions; d++) axes[d] = linear(c[d], (int)image->extent[d], sampler);
  i4 at = 0;
  if (is_array) at[dimensions] = layer(whole(__builtin_rintf(c[dimensions])), image->extent[dimensions]);
  f4 sum = 0;
  for (int corner = 0; corner < 1 << dimensions; corner++) {
    float weight = 1;
    for (int d = 0; d < dimensions; d++) {
      int is_second = corner >> d & 1;
      at[d] = is_second ? axes[d].second : axes[d].first;
      weight *= is_second ? axes[d].weight : 1.0f - axes[d].weight;
    }
    sum += weight * element_f(image, at);
  }
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
