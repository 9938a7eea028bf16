/* The kernels of the tests, for the stand-in of HIP's runtime: what a code object says is not looked at. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

#include <pthread.h>
#include "../output.h"

struct variables { float coefficients[4]; uint32_t launches; int prints; struct ring *ring; };
static const struct { const char *name; int parameters; uint32_t sizes[4]; int block, shared; } KERNELS[] = {
    { "saxpy", 4, { 4, 8, 8, 4 }, 1024, 0 }, { "mirror", 2, { 8, 4 }, 1024, 0 }, { "last_word", 1, { 8 }, 1024, 0 },
    { "weigh", 1, { 8 }, 1024, 0 },          { "count", 1, { 8 }, 8, 64 },       { "crash", 0, { 0 }, 1024, 0 },
    { "meet", 3, { 8, 8, 8 }, 1024, 0 },    { "offsets", 3, { 8, 8, 8 }, 1024, 0 }, { "say", 1, { 4 }, 1024, 0 }, { "doubt", 1, { 4 }, 1024, 0 } };
enum { COUNT = sizeof KERNELS / sizeof *KERNELS };

R load(struct module **module, const unsigned char *image)
{
    *module = calloc(1, sizeof **module);
    (*module)->count = COUNT;
    (*module)->kernels = calloc(COUNT, sizeof(struct kernel));
    for (int i = 0; i < COUNT; i++) {
        struct kernel *kernel = &(*module)->kernels[i];
        strcpy(kernel->name, KERNELS[i].name);
        kernel->module = *module;
        kernel->parameters = KERNELS[i].parameters;
        kernel->block = KERNELS[i].block;
        kernel->shared = KERNELS[i].shared;
        for (int p = 0; p < kernel->parameters; p++) kernel->sizes[p] = KERNELS[i].sizes[p], kernel->offsets[p] = 8 * p;
    }
    struct variables *variables = (*module)->own = calloc(1, sizeof *variables);
    for (int i = 0; i < 4; i++) variables->coefficients[i] = i + 1;
    variables->prints = image[9] == 'P'; /* a byte that the format does not use */
    return OK;
}
void unload(struct module *module)
{
    free(module->own);
    free(module->kernels);
    free(module);
}
R variable(struct module *module, const char *name, void **address, size_t *size)
{
    struct variables *variables = module->own;
    if (strcmp(name, "coefficients") == 0) return *address = variables->coefficients, *size = 16, OK;
    if (strcmp(name, "launches") == 0) return *address = &variables->launches, *size = 4, OK;
    if (strcmp(name, "__offload_output") == 0 && variables->prints) return *address = &variables->ring, *size = 8, OK;
    return NOT_FOUND;
}
/* Each work-item prints, or doubts its number. */
static void print_as(const char *name, struct ring *ring, unsigned items, int value)
{
    static pthread_mutex_t printing = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&printing);
    __offload_output = ring;
    __offload_output_kernel = name;
    for (global_id = 0; global_id < items; global_id++) {
        struct { unsigned id; const char *text; double unused; } arguments = { global_id, name, 0 };
        if (strcmp(name, "say") == 0) device_vprintf("%u %s\n", (void *)&arguments);
        else if ((int)global_id >= value) device_assert_fail("id < value", "kernels/prints.hip", 7, "checked");
    }
    pthread_mutex_unlock(&printing);
}
#define ARGUMENT(type, index) (*(type *)(launch->arguments + 8 * (index)))
R execute(struct launch *launch)
{
    const char *name = launch->kernel->name;
    unsigned block = launch->block[0], grid = launch->grid[0];
    if (strcmp(name, "crash") == 0) return LAUNCH_FAILURE;
    if (strcmp(name, "say") == 0 || strcmp(name, "doubt") == 0)
        return print_as(name, ((struct variables *)launch->module->own)->ring, grid * block, ARGUMENT(int, 0)), OK;
    if (strcmp(name, "saxpy") == 0) {
        float a = ARGUMENT(float, 0), *x = ARGUMENT(float *, 1), *y = ARGUMENT(float *, 2);
        for (unsigned i = 0; i < grid * block && i < ARGUMENT(unsigned, 3); i++) y[i] += a * x[i];
    } else if (strcmp(name, "mirror") == 0) {
        if (launch->shared < 4 * block) return LAUNCH_FAILURE;
        uint32_t *out = ARGUMENT(uint32_t *, 0);
        for (unsigned i = 0; i < grid * block; i++) out[i] = block - 1 - i % block;
    } else if (strcmp(name, "last_word") == 0) {
        ARGUMENT(uint32_t *, 0)[0] = launch->shared;
        ARGUMENT(uint32_t *, 0)[1] = 42;
    } else if (strcmp(name, "meet") == 0) {
        for (unsigned i = 0; i < grid; i++) ARGUMENT(uint32_t *, 0)[i] = i + 1;
        for (unsigned i = 0; i < grid; i++) ARGUMENT(uint32_t *, 2)[i] = ARGUMENT(uint32_t *, 0)[(i + 1) % grid];
    } else if (strcmp(name, "offsets") == 0) {
        uint32_t *out = ARGUMENT(uint32_t *, 1);
        out[0] = ARGUMENT(uint64_t, 0), out[1] = ARGUMENT(uint64_t, 2), out[2] = launch->shared;
    } else if (strcmp(name, "weigh") == 0) {
        struct variables *variables = launch->module->own;
        for (unsigned i = 0; i < block; i++) ARGUMENT(float *, 0)[i] = variables->coefficients[i % 4];
    } else {
        ARGUMENT(uint32_t *, 0)[0] += grid * launch->grid[1] * launch->grid[2];
    }
    return OK;
}
