/* Texture and surface objects of CUDA C++ for the target `host`, behind host_images.c, whose elements they read and write
 * (https://docs.nvidia.com/cuda/cuda-c-programming-guide/#texture-fetching).
 *
 * An object is the address of `struct offload_texture`. Weights of a linear filter have 8 bits behind the point, and the sum
 * is one of numbers of 32 bits. Layers are clamped. Where CUDA's access traps, beside a surface, a read gives 0 and a write
 * does nothing.
 */

/* The layout is that of `TextureDescriptor` of offload-rt. */
struct offload_texture {
  struct offload_image image;
  u32 addressing[3], is_linear, is_normalized;
  float border[4];
};
typedef const struct offload_texture *texture_t;

/* `cudaTextureAddressMode`. */
enum { TEXTURE_WRAP, TEXTURE_CLAMP, TEXTURE_MIRROR, TEXTURE_BORDER };
/* Beside the number of dimensions. */
enum { TEXTURE_DIMENSIONS = 3, TEXTURE_LAYERED = 4, TEXTURE_CUBE = 8 };
/* `cudaSurfaceBoundaryMode`. */
enum { SURFACE_CLAMP = 1 };

/* The number of the element in a dimension; beside the image for the border. */
INLINE int texture_element(int i, int size, u32 mode) {
  int period = mode == TEXTURE_MIRROR ? 2 * size : size;
  if (mode == TEXTURE_BORDER) return i;
  if (mode == TEXTURE_CLAMP) return limited(i, 0, size - 1);
  i %= period;
  i = i < 0 ? i + period : i;
  return i < size ? i : period - 1 - i;
}

INLINE struct axis texture_axis(texture_t texture, float c, int d, u32 is_linear) {
  int size = (int)texture->image.extent[d];
  u32 mode = texture->addressing[d];
  if (texture->is_normalized) {
    if (mode == TEXTURE_WRAP) c = c - __builtin_floorf(c);
    c = c * (float)size;
  }
  if (!is_linear) {
    int i = texture_element(whole(__builtin_floorf(c)), size, mode);
    return (struct axis){i, i, 0};
  }
  float parts = __builtin_floorf((c - 0.5f) * 256.0f + 0.5f) * (1.0f / 256.0f), start = __builtin_floorf(parts);
  int i = whole(start);
  return (struct axis){texture_element(i, size, mode), texture_element(i + 1, size, mode), parts - start};
}

/* The element, or the border. */
#define TEXTURE_ELEMENT(suffix, vector, load)                                                    \
  INLINE vector texture_element_##suffix(texture_t texture, i4 at) {                             \
    const u8 *found = element(&texture->image, at);                                              \
    const float *b = texture->border;                                                            \
    return found ? load(&texture->image, found) : AS(vector, ((f4){b[0], b[1], b[2], b[3]}));    \
  }
TEXTURE_ELEMENT(f, f4, load_f)
TEXTURE_ELEMENT(i, i4, load_i)
TEXTURE_ELEMENT(u, u4, load_u)

/* A place in an image of so many dimensions and layers; a direction becomes a place in a face, which is a layer. */
struct place { float x, y, z; int layer, dimensions; };

INLINE struct place texture_place(texture_t texture, float x, float y, float z, int index, int kind) {
  int dimensions = kind & TEXTURE_DIMENSIONS;
  if (kind & TEXTURE_CUBE) {
    float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z), s, t, m;
    int face;
    if (ax >= ay && ax >= az) {
      face = x >= 0 ? 0 : 1, m = ax, s = x >= 0 ? -z : z, t = -y;
    } else if (ay >= az) {
      face = y >= 0 ? 2 : 3, m = ay, s = x, t = y >= 0 ? z : -z;
    } else {
      face = z >= 0 ? 4 : 5, m = az, s = z >= 0 ? x : -x, t = -y;
    }
    x = (s / m + 1.0f) * 0.5f, y = (t / m + 1.0f) * 0.5f;
    index = limited(kind & TEXTURE_LAYERED ? index : 0, 0, (int)texture->image.extent[2] / 6 - 1) * 6 + face;
  }
  int is_array = (kind & (TEXTURE_LAYERED | TEXTURE_CUBE)) != 0;
  return (struct place){x, y, z, layer(&texture->image, index, dimensions, is_array), dimensions};
}

INLINE i4 texture_nearest(texture_t texture, struct place p) {
  int x = texture_axis(texture, p.x, 0, 0).first, y = 0, z = 0;
  if (p.dimensions > 1) y = texture_axis(texture, p.y, 1, 0).first;
  if (p.dimensions > 2) z = texture_axis(texture, p.z, 2, 0).first;
  return position(x, y, z, p.layer, p.dimensions);
}

INLINE f4 texture_linear(texture_t texture, struct place p) {
  struct axis x = texture_axis(texture, p.x, 0, 1), y = {0, 0, 0}, z = {0, 0, 0};
  if (p.dimensions > 1) y = texture_axis(texture, p.y, 1, 1);
  if (p.dimensions > 2) z = texture_axis(texture, p.z, 2, 1);
#undef CORNER
#define CORNER(i, j, k, by) ((by) * texture_element_f(texture, position(x.i, y.j, z.k, p.layer, p.dimensions)))
  f4 sum = ROW(first, first, (1.0f - y.weight) * (1.0f - z.weight));
  if (p.dimensions > 1) sum += ROW(second, first, y.weight * (1.0f - z.weight));
  if (p.dimensions > 2) sum += ROW(first, second, (1.0f - y.weight) * z.weight) + ROW(second, second, y.weight * z.weight);
  return sum;
}

f4 __offload_texture_read_f(u64 object, float x, float y, float z, int index, int kind) {
  texture_t texture = (texture_t)object;
  struct place p = texture_place(texture, x, y, z, index, kind);
  return texture->is_linear ? texture_linear(texture, p) : texture_element_f(texture, texture_nearest(texture, p));
}
/* Numbers are not filtered. Of a gather: the elements at the corners, from the lower left against the clock, where y goes up. */
#define TEXTURE_READS(suffix, vector)                                                                                  \
  vector __offload_texture_fetch_##suffix(u64 object, int x) {                                                         \
    return texture_element_##suffix((texture_t)object, (i4){x, 0, 0, 0});                                              \
  }                                                                                                                    \
  vector __offload_texture_gather_##suffix(u64 object, float cx, float cy, int component) {                            \
    texture_t texture = (texture_t)object;                                                                             \
    struct axis x = texture_axis(texture, cx, 0, 1), y = texture_axis(texture, cy, 1, 1);                              \
    vector a = texture_element_##suffix(texture, (i4){x.first, y.second, 0, 0});                                       \
    vector b = texture_element_##suffix(texture, (i4){x.second, y.second, 0, 0});                                      \
    vector c = texture_element_##suffix(texture, (i4){x.second, y.first, 0, 0});                                       \
    vector d = texture_element_##suffix(texture, (i4){x.first, y.first, 0, 0});                                        \
    switch (component) {                                                                                               \
    case 1: return (vector){a.y, b.y, c.y, d.y};                                                                       \
    case 2: return (vector){a.z, b.z, c.z, d.z};                                                                       \
    case 3: return (vector){a.w, b.w, c.w, d.w};                                                                       \
    default: return (vector){a.x, b.x, c.x, d.x};                                                                      \
    }                                                                                                                  \
  }
#define TEXTURE_NUMBERS(suffix, vector)                                                                                \
  vector __offload_texture_read_##suffix(u64 object, float x, float y, float z, int index, int kind) {                 \
    texture_t texture = (texture_t)object;                                                                             \
    return texture_element_##suffix(texture, texture_nearest(texture, texture_place(texture, x, y, z, index, kind)));  \
  }
TEXTURE_READS(f, f4)
TEXTURE_READS(i, i4)
TEXTURE_READS(u, u4)
TEXTURE_NUMBERS(i, i4)
TEXTURE_NUMBERS(u, u4)

/* Where `size` bytes at byte `x` of a row are; null beside the surface, as far as `mode` does not clamp. */
INLINE u8 *surface_bytes(image_t image, int x, int y, int z, u32 size, u32 mode) {
  int width = (int)(image->extent[0] * image->element_size);
  if (mode == SURFACE_CLAMP) {
    x = limited(x, 0, width - (int)size);
    y = limited(y, 0, (int)image->extent[1] - 1);
    z = limited(z, 0, (int)image->extent[2] - 1);
  }
  int is_inside = x >= 0 && x <= width - (int)size && (u32)y < image->extent[1] && (u32)z < image->extent[2];
  return is_inside ? image->elements + (u64)z * image->slice_pitch + (u64)y * image->row_pitch + (u64)x : 0;
}

u4 __offload_surface_read(u64 object, int x, int y, int z, u32 size, u32 mode) {
  const u8 *found = surface_bytes(&((texture_t)object)->image, x, y, z, size, mode);
  u4 word = 0;
  if (!found) return word;
  switch (size) {
  case 1: word.x = *found; return word;
  case 2: word.x = LOAD(u16, found); return word;
  case 4: word.x = LOAD(u32, found); return word;
  case 8: word.x = LOAD(u32, found), word.y = LOAD(u32, found + 4); return word;
  default: return LOAD(u4, found);
  }
}

void __offload_surface_write(u64 object, int x, int y, int z, u32 size, u32 mode, u4 word) {
  u8 *found = surface_bytes(&((texture_t)object)->image, x, y, z, size, mode);
  if (!found) return;
  switch (size) {
  case 1: *found = (u8)word.x; return;
  case 2: STORE(u16, found, word.x); return;
  case 4: STORE(u32, found, word.x); return;
  case 8: STORE(u32, found, word.x); STORE(u32, found + 4, word.y); return;
  default: STORE(u4, found, word);
  }
}
