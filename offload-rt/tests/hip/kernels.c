/* The kernels of the tests, for the stand-in of HIP's runtime: what a code object says is not looked at. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

struct variables { float coefficients[4]; uint32_t launches; };
static const struct { const char *name; int parameters; uint32_t sizes[4]; int block, shared; } KERNELS[] = {
    { "saxpy", 4, { 4, 8, 8, 4 }, 1024, 0 }, { "mirror", 2, { 8, 4 }, 1024, 0 }, { "last_word", 1, { 8 }, 1024, 0 },
    { "weigh", 1, { 8 }, 1024, 0 },          { "count", 1, { 8 }, 8, 64 },       { "crash", 0, { 0 }, 1024, 0 },
    { "offsets", 3, { 8, 8, 8 }, 1024, 0 } };
enum { COUNT = sizeof KERNELS / sizeof *KERNELS };

R load(struct module **module, const unsigned char *image)
{
    (void)image;
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
    return NOT_FOUND;
}
#define ARGUMENT(type, index) (*(type *)(launch->arguments + 8 * (index)))
R execute(struct launch *launch)
{
    const char *name = launch->kernel->name;
    unsigned block = launch->block[0], grid = launch->grid[0];
    if (strcmp(name, "crash") == 0) return LAUNCH_FAILURE;
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
