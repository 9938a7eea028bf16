/* Arrays, textures and surfaces as both stand-ins have them. They look at what they are given: formats, flags, and that a
 * copy lies within its arrays. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERED = 1, SURFACE_LOAD_STORE = 2, CUBEMAP = 4, TEXTURE_GATHER = 8 };
struct array_form { size_t width, height, depth; unsigned format, channels, flags; };
struct array { struct array_form form; size_t element; char *data; };
struct linear { char *address; unsigned format, channels; size_t size; };
struct resource { unsigned kind; union { struct array *array; struct linear linear; int reserved[32]; }; unsigned flags; };
struct reading { unsigned addressing[3], filter, flags, anisotropy, mipmap_filter; float bias, least, most, border[4]; int reserved[12]; };
struct object { struct resource resource; struct reading reading; int is_surface; };
/* One side of a copy; without an array it is memory. */
struct side { char *memory; size_t pitch, rows; struct array *array; size_t x, y, z; };
static int arrays, objects;

static size_t channel_size(unsigned format)
{
    switch (format) {
    case 1: case 8: return 1;
    case 2: case 9: case 0x10: return 2;
    case 3: case 10: case 0x20: return 4;
    default: return 0;
    }
}
static size_t least_one(size_t size) { return size ? size : 1; }
/* Null for a form that there is not. */
static struct array *new_array(const struct array_form *form)
{
    size_t element = channel_size(form->format) * form->channels;
    int is_known = form->channels == 1 || form->channels == 2 || form->channels == 4;
    int has_layers = (form->flags & LAYERED) != 0;
    if (!element || !is_known || !form->width || form->flags > 15 || (has_layers && !form->depth)) return NULL;
    if (form->flags & TEXTURE_GATHER && (!form->height || form->depth)) return NULL;
    struct array *array = malloc(sizeof *array);
    *array = (struct array){ *form, element, malloc(element * form->width * least_one(form->height) * least_one(form->depth)) };
    arrays++;
    return array;
}
static void free_array(struct array *array) { arrays--; free(array->data); free(array); }

static char *row_of(const struct side *side, size_t y, size_t z)
{
    if (!side->array) return side->memory + (z * side->rows + y) * side->pitch;
    const struct array_form *form = &side->array->form;
    size_t row = (side->z + z) * least_one(form->height) + side->y + y;
    return side->array->data + row * form->width * side->array->element + side->x;
}
static int holds(const struct side *side, size_t width, size_t height, size_t depth)
{
    if (!side->array) return side->memory && width <= side->pitch && (depth == 1 || height <= side->rows);
    const struct array_form *form = &side->array->form;
    return side->x + width <= form->width * side->array->element && side->y + height <= least_one(form->height)
        && side->z + depth <= least_one(form->depth);
}
/* Each row by `copy`; not 0 for a box that is not within both sides. */
static int copy_rows(const struct side *from, const struct side *to, size_t width, size_t height, size_t depth,
                     void (*copy)(char *to, const char *from, size_t size, void *data), void *data)
{
    if (!width || !height || !depth || !holds(from, width, height, depth) || !holds(to, width, height, depth)) return 1;
    for (size_t z = 0; z < depth; z++)
        for (size_t y = 0; y < height; y++) copy(row_of(to, y, z), row_of(from, y, z), width, data);
    return 0;
}
/* Null for what the resource has not. */
static struct object *new_object(const struct resource *resource, const struct reading *reading)
{
    enum { ARRAY = 0, LINEAR = 2 };
    if (resource->flags || (resource->kind != ARRAY && resource->kind != LINEAR)) return NULL;
    if (!reading && (resource->kind != ARRAY || !(resource->array->form.flags & SURFACE_LOAD_STORE))) return NULL;
    /* sRGB is of bytes that are read as floating-point numbers. */
    if (reading && reading->flags & 16 && (reading->flags & 1 || (resource->kind == ARRAY ? resource->array->form.format : resource->linear.format) != 1)) return NULL;
    if (reading && ((reading->flags & ~16u) > 3 || reading->addressing[0] > 3 || reading->filter > 1)) return NULL;
    struct object *object = calloc(1, sizeof *object);
    *object = (struct object){ .resource = *resource, .is_surface = !reading };
    if (reading) object->reading = *reading;
    objects++;
    return object;
}
static void free_object(struct object *object) { objects--; free(object); }
