/* A stand-in for an OpenCL driver with one Intel GPU, which answers what `cargo offload devices` asks. With INCOMPLETE
 * defined there is no driver. */
#include <stdint.h>
#include <string.h>

enum { OK, INVALID_VALUE = -30, PLATFORM_NOT_FOUND = -1001 };
static int platform, device;

static int answer(const void *value, size_t size, size_t room, void *to, size_t *needed)
{
    if (to && room < size) return INVALID_VALUE;
    if (to) memcpy(to, value, size);
    if (needed) *needed = size;
    return OK;
}

static int text(const char *value, size_t room, void *to, size_t *needed)
{
    return answer(value, strlen(value) + 1, room, to, needed);
}

static int word(uint32_t value, size_t room, void *to, size_t *needed)
{
    return answer(&value, sizeof value, room, to, needed);
}

int clGetPlatformIDs(uint32_t room, void **ids, uint32_t *count)
{
#ifdef INCOMPLETE
    return PLATFORM_NOT_FOUND;
#endif
    if (ids && room) *ids = &platform;
    if (count) *count = 1;
    return OK;
}

int clGetDeviceIDs(void *of, uint64_t kind, uint32_t room, void **ids, uint32_t *count)
{
    (void)of, (void)kind;
    if (ids && room) *ids = &device;
    if (count) *count = 1;
    return OK;
}

int clGetDeviceInfo(void *of, uint32_t what, size_t room, void *to, size_t *needed)
{
    uint64_t gpu = 4, doubles = 63;
    (void)of;
    switch (what) {
    case 0x1000: return answer(&gpu, sizeof gpu, room, to, needed);
    case 0x1001: return word(0x8086, room, to, needed);
    case 0x1028: return word(1, room, to, needed); /* it compiles */
    case 0x102b: return text("stand-in GPU", room, to, needed);
    case 0x102c: return text("Intel", room, to, needed);
    case 0x1030: return text("cl_khr_fp16 cl_intel_device_attribute_query", room, to, needed);
    case 0x1032: return answer(&doubles, sizeof doubles, room, to, needed);
    case 0x105b: return text("SPIR-V_1.2 SPIR-V_1.1 SPIR-V_1.0", room, to, needed);
    case 0x4250: return word(0x030f0007, room, to, needed); /* Ponte Vecchio B */
    default: return INVALID_VALUE;
    }
}
