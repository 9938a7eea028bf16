/* The kernels of real gfx1100 code objects, for the stand-in of HIP's runtime: they run wave by wave in an emulator of
 * RDNA3, the library that OFFLOAD_AMD_EMULATOR names, of which one function is used:
 *   int run_asm(const char *code, uint32_t size, uint32_t gx, gy, gz, uint32_t lx, ly, lz, const uint64_t *arguments)
 * Like AMD's loader this puts segments into memory, reads kernels and arguments from the metadata
 * (https://llvm.org/docs/AMDGPUUsage.html#code-object-metadata), and fills hidden arguments. What the emulator cannot set
 * up is refused and told, so that no result is right by chance. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

typedef int run_asm(const char *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, const uint64_t *);

struct hidden { uint32_t offset, size; char kind[32]; };
struct own { const char *code; uint32_t code_size, arguments_size, resources, properties; int hidden_count; struct hidden hidden[64];
             int local[MOST_PARAMETERS]; };
struct object { char *memory; };

static R refuse(const char *what, const char *name)
{
    printf("stand-in: %s: %s\n", name, what);
    fflush(stdout);
    return INVALID_IMAGE;
}
static run_asm *emulator(void)
{
    static run_asm *found;
    const char *path = getenv("OFFLOAD_AMD_EMULATOR");
    if (!found && path) {
        void *library = dlopen(path, RTLD_NOW);
        if (library) found = (run_asm *)dlsym(library, "run_asm");
        else printf("stand-in: %s\n", dlerror());
    }
    return found;
}

/* MessagePack, as far as the metadata have it */
struct text { const char *start; uint32_t size; };
static int is(struct text text, const char *word) { return text.size == strlen(word) && !memcmp(text.start, word, text.size); }
static uint64_t big(const unsigned char **at, int bytes)
{
    uint64_t value = 0;
    while (bytes--) value = value << 8 | *(*at)++;
    return value;
}
static uint32_t items(const unsigned char **at, int fix, int word)
{
    unsigned char first = *(*at)++;
    if ((first & 0xf0) == fix) return first & 0xf;
    return big(at, first == word ? 2 : 4);
}
static struct text string(const unsigned char **at)
{
    unsigned char first = *(*at)++;
    uint32_t size = (first & 0xe0) == 0xa0 ? first & 0x1f : big(at, 1 << (first - 0xd9));
    struct text text = { (const char *)*at, size };
    *at += size;
    return text;
}
static uint64_t number(const unsigned char **at)
{
    unsigned char first = *(*at)++;
    return first < 0x80 ? first : big(at, 1 << (first - 0xcc));
}
static void skip(const unsigned char **at)
{
    unsigned char first = **at;
    if (first < 0x80 || first >= 0xe0 || first == 0xc0 || first == 0xc2 || first == 0xc3) { ++*at; return; }
    if ((first & 0xe0) == 0xa0 || (first >= 0xd9 && first <= 0xdb)) { string(at); return; }
    if ((first & 0xf0) == 0x90 || first == 0xdc || first == 0xdd) {
        for (uint32_t n = items(at, 0x90, 0xdc); n--;) skip(at);
        return;
    }
    if ((first & 0xf0) == 0x80 || first == 0xde || first == 0xdf) {
        for (uint32_t n = items(at, 0x80, 0xde); n--;) skip(at), skip(at);
        return;
    }
    ++*at;
    *at += first >= 0xd0 ? 1 << (first - 0xd0) : first >= 0xcc ? 1 << (first - 0xcc) : first == 0xca ? 4 : 8;
}

static void argument(const unsigned char **at, struct kernel *kernel)
{
    struct own *own = kernel->own;
    struct text kind = { "", 0 };
    uint32_t offset = 0, size = 0;
    for (uint32_t n = items(at, 0x80, 0xde); n--;) {
        struct text key = string(at);
        if (is(key, ".value_kind")) kind = string(at);
        else if (is(key, ".offset")) offset = number(at);
        else if (is(key, ".size")) size = number(at);
        else skip(at);
    }
    if (kind.size > 7 && !memcmp(kind.start, "hidden_", 7)) {
        if (own->hidden_count == 64 || kind.size > 31) return;
        struct hidden *hidden = &own->hidden[own->hidden_count++];
        hidden->offset = offset, hidden->size = size;
        memcpy(hidden->kind, kind.start, kind.size);
    } else if (kernel->parameters < MOST_PARAMETERS) {
        own->local[kernel->parameters] = is(kind, "dynamic_shared_pointer");
        kernel->offsets[kernel->parameters] = offset;
        kernel->sizes[kernel->parameters++] = size;
    }
}
static void read_kernel(const unsigned char **at, struct kernel *kernel)
{
    struct own *own = kernel->own = calloc(1, sizeof *own);
    for (uint32_t n = items(at, 0x80, 0xde); n--;) {
        struct text key = string(at);
        if (is(key, ".name")) {
            struct text name = string(at);
            snprintf(kernel->name, sizeof kernel->name, "%.*s", (int)name.size, name.start);
        } else if (is(key, ".args")) {
            for (uint32_t count = items(at, 0x90, 0xdc); count--;) argument(at, kernel);
        } else if (is(key, ".max_flat_workgroup_size")) kernel->block = number(at);
        else if (is(key, ".group_segment_fixed_size")) kernel->shared = number(at);
        else if (is(key, ".kernarg_segment_size")) own->arguments_size = number(at);
        else skip(at);
    }
}
static void read_metadata(const unsigned char *at, struct module *module)
{
    for (uint32_t n = items(&at, 0x80, 0xde); n--;) {
        if (!is(string(&at), "amdhsa.kernels")) { skip(&at); continue; }
        module->count = items(&at, 0x90, 0xdc);
        module->kernels = calloc(module->count, sizeof *module->kernels);
        for (int i = 0; i < module->count; i++) module->kernels[i].module = module, read_kernel(&at, &module->kernels[i]);
    }
}

/* The code object: the test has checked that nothing in it reaches outside */
static const Elf64_Shdr *section(const unsigned char *image, uint32_t type, int from)
{
    const Elf64_Ehdr *header = (const void *)image;
    const Elf64_Shdr *sections = (const void *)(image + header->e_shoff);
    for (int i = from; i < header->e_shnum; i++)
        if (sections[i].sh_type == type) return &sections[i];
    return NULL;
}
static char *mapped(const unsigned char *image)
{
    const Elf64_Ehdr *header = (const void *)image;
    const Elf64_Phdr *segments = (const void *)(image + header->e_phoff);
    size_t end = 0;
    for (int i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD && segments[i].p_vaddr + segments[i].p_memsz > end)
            end = segments[i].p_vaddr + segments[i].p_memsz;
    char *memory = aligned_alloc(4096, (end + 8191) / 4096 * 4096);
    memset(memory, 0, (end + 8191) / 4096 * 4096);
    for (int i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD)
            memcpy(memory + segments[i].p_vaddr, image + segments[i].p_offset, segments[i].p_filesz);
    return memory;
}
static const Elf64_Sym *symbol(const unsigned char *image, const char *name)
{
    const Elf64_Shdr *table = section(image, SHT_DYNSYM, 0);
    if (!table) return NULL;
    const Elf64_Shdr *sections = (const void *)(image + ((const Elf64_Ehdr *)image)->e_shoff);
    const char *names = (const char *)image + sections[table->sh_link].sh_offset;
    const Elf64_Sym *symbols = (const void *)(image + table->sh_offset);
    for (size_t i = 0; i < table->sh_size / sizeof *symbols; i++)
        if (strcmp(names + symbols[i].st_name, name) == 0) return &symbols[i];
    return NULL;
}
static R find_code(const unsigned char *image, struct kernel *kernel)
{
    struct own *own = kernel->own;
    char name[300];
    snprintf(name, sizeof name, "%s.kd", kernel->name);
    const Elf64_Sym *descriptor = symbol(image, name), *code = symbol(image, kernel->name);
    if (!descriptor || !code) return refuse("it has no descriptor or no code", kernel->name);
    const char *at = ((struct object *)kernel->module->own)->memory + descriptor->st_value;
    int64_t entry;
    uint16_t properties;
    memcpy(&entry, at + 16, 8);
    memcpy(&own->resources, at + 52, 4);
    memcpy(&properties, at + 56, 2);
    own->properties = properties;
    own->code = at + entry;
    own->code_size = code->st_size / 4 * 4;
    return OK;
}
R load(struct module **module, const unsigned char *image)
{
    if (!emulator()) return refuse("no emulator", "OFFLOAD_AMD_EMULATOR");
    *module = calloc(1, sizeof **module);
    struct object *object = (*module)->own = calloc(1, sizeof *object);
    object->memory = mapped(image);
    const Elf64_Shdr *notes = section(image, SHT_NOTE, 0);
    if (!notes) return refuse("it has no notes", "code object");
    const unsigned char *note = image + notes->sh_offset;
    uint32_t words[3];
    memcpy(words, note, 12);
    if (words[2] != 32) return refuse("its first note is not the metadata", "code object");
    read_metadata(note + 12 + (words[0] + 3) / 4 * 4, *module);
    for (int i = 0; i < (*module)->count; i++)
        if (find_code(image, &(*module)->kernels[i])) return INVALID_IMAGE;
    return OK;
}
void unload(struct module *module)
{
    for (int i = 0; i < module->count; i++) free(module->kernels[i].own);
    free(((struct object *)module->own)->memory);
    free(module->own);
    free(module->kernels);
    free(module);
}
R variable(struct module *module, const char *name, void **address, size_t *size)
{
    (void)module, (void)name, (void)address, (void)size;
    return NOT_FOUND;
}

/* Bits of the kernel descriptor */
enum { KERNARG_SEGMENT_PTR = 1 << 3, WAVEFRONT_SIZE32 = 1 << 10, GROUP_X = 1 << 7, GROUP_Y = 1 << 8, GROUP_Z = 1 << 9 };

/* The emulator sets up a pointer to the arguments, and the numbers of the group by the dimensions of the grid alone. */
static R check(const struct launch *launch)
{
    const struct own *own = launch->kernel->own;
    int enabled = !!(own->resources & GROUP_X) + !!(own->resources & GROUP_Y) + !!(own->resources & GROUP_Z);
    int given = launch->grid[2] != 1 ? 3 : launch->grid[1] != 1 ? 2 : 1;
    if ((own->properties & 0x7f & ~KERNARG_SEGMENT_PTR) || !(own->properties & WAVEFRONT_SIZE32))
        return refuse("it wants registers that the emulator does not set", launch->kernel->name);
    if (enabled && enabled != given) return refuse("the grid has other dimensions than it uses", launch->kernel->name);
    return OK;
}
static void fill(char *to, const struct hidden *hidden, const struct launch *launch)
{
    static const char *const AXES[] = { "x", "y", "z" };
    uint64_t value = 0;
    for (int axis = 0; axis < 3; axis++) {
        size_t end = strlen(hidden->kind) - 1;
        if (strcmp(hidden->kind + end, AXES[axis])) continue;
        if (!strncmp(hidden->kind, "hidden_block_count_", 19)) value = launch->grid[axis];
        if (!strncmp(hidden->kind, "hidden_group_size_", 18)) value = launch->block[axis];
    }
    if (!strcmp(hidden->kind, "hidden_grid_dims")) value = launch->grid[2] != 1 ? 3 : launch->grid[1] != 1 ? 2 : 1;
    if (!strcmp(hidden->kind, "hidden_dynamic_lds_size")) value = launch->shared;
    memcpy(to + hidden->offset, &value, hidden->size > 8 ? 8 : hidden->size);
}
R execute(struct launch *launch)
{
    const struct kernel *kernel = launch->kernel;
    const struct own *own = kernel->own;
    if (check(launch)) return LAUNCH_FAILURE;
    char *arguments = calloc(1, own->arguments_size + 256);
    for (int i = 0; i < kernel->parameters; i++) {
        const void *from = launch->arguments + kernel->offsets[i];
        uint32_t place = (kernel->shared + 15) / 16 * 16; /* of local memory: behind the kernel's own */
        memcpy(arguments + kernel->offsets[i], own->local[i] ? &place : from, kernel->sizes[i]);
    }
    for (int i = 0; i < own->hidden_count; i++) fill(arguments, &own->hidden[i], launch);
    R failed = emulator()(own->code, own->code_size, launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0],
                          launch->block[1], launch->block[2], (const uint64_t *)arguments);
    if (failed) printf("stand-in: %s: the emulator stopped with %d\n", kernel->name, failed);
    fflush(stdout);
    free(arguments);
    return failed ? LAUNCH_FAILURE : OK;
}
