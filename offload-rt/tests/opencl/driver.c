/* A stand-in for an OpenCL driver with one Intel GPU, which answers what is asked of devices. With INCOMPLETE defined there
 * is no driver; with NVIDIA defined it has the first GPU of the stand-in for CUDA's driver too. */
#include <stdint.h>
#include <string.h>

enum { OK, INVALID_VALUE = -30, PLATFORM_NOT_FOUND = -1001 };
#ifdef NVIDIA
enum { DEVICES = 2 };
#else
enum { DEVICES = 1 };
#endif
static int platform, devices[DEVICES];

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
    for (uint32_t i = 0; ids && i < room && i < DEVICES; i++) ids[i] = &devices[i];
    if (count) *count = DEVICES;
    return OK;
}

static int size(size_t value, size_t room, void *to, size_t *needed)
{
    return answer(&value, sizeof value, room, to, needed);
}

/* The extensions that tell warps and memory, but not the address: the UUID does. */
static int nvidia(uint32_t what, size_t room, void *to, size_t *needed)
{
    unsigned char uuid[16];
    for (int i = 0; i < 16; i++) uuid[i] = 16 + i;
    switch (what) {
    case 0x1001: return word(0x10de, room, to, needed);
    case 0x1002: return word(132, room, to, needed);
    case 0x102b: return text("stand-in NVIDIA", room, to, needed);
    case 0x102c: return text("NVIDIA Corporation", room, to, needed);
    case 0x1030: return text("cl_nv_device_attribute_query cl_khr_device_uuid", room, to, needed);
    case 0x106a: return answer(uuid, sizeof uuid, room, to, needed);
    case 0x4003: return word(32, room, to, needed);
    case 0x4006: return word(0, room, to, needed);
    default: return INVALID_VALUE;
    }
}

int clGetDeviceInfo(void *of, uint32_t what, size_t room, void *to, size_t *needed)
{
    uint64_t gpu = 4, doubles = 63;
    uint32_t address[4] = { 0, 0x9a, 0, 0 };
    size_t extents[3] = { 1024, 1024, 512 };
    void *own = &platform;
    if (what == 0x1031) return answer(&own, sizeof own, room, to, needed);
    if (of != &devices[0] && nvidia(what, room, to, needed) == OK) return OK;
    if (of != &devices[0] && what > 0x1030) return INVALID_VALUE;
    switch (what) {
    case 0x1000: return answer(&gpu, sizeof gpu, room, to, needed);
    case 0x1001: return word(0x8086, room, to, needed);
    case 0x1002: return word(512, room, to, needed);
    case 0x1004: return size(1024, room, to, needed);
    case 0x1005: return answer(extents, sizeof extents, room, to, needed);
    case 0x100c: return word(1600, room, to, needed); /* MHz */
    case 0x101e: return answer(&(uint64_t){ 208 << 20 }, 8, room, to, needed);
    case 0x101f: return answer(&(uint64_t){ 64ull << 30 }, 8, room, to, needed);
    case 0x1023: return answer(&(uint64_t){ 128 << 10 }, 8, room, to, needed);
    case 0x102d: return text("24.35.30872", room, to, needed);
    case 0x1035: return word(0, room, to, needed); /* memory of its own */
    case 0x1028: return word(1, room, to, needed); /* it compiles */
    case 0x102b: return text("stand-in GPU", room, to, needed);
    case 0x102c: return text("Intel", room, to, needed);
    case 0x1030: return text("cl_khr_fp16 cl_khr_pci_bus_info cl_intel_device_attribute_query", room, to, needed);
    case 0x1032: return answer(&doubles, sizeof doubles, room, to, needed);
    case 0x105b: return text("SPIR-V_1.2 SPIR-V_1.1 SPIR-V_1.0", room, to, needed);
    case 0x410f: return answer(address, sizeof address, room, to, needed);
    case 0x4250: return word(0x030f0007, room, to, needed); /* Ponte Vecchio B */
    default: return INVALID_VALUE;
    }
}
