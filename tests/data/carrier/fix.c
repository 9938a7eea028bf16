// Wrappers and registrations as HIP, CUDA and SYCL compilers emit them.
typedef unsigned short u16; typedef unsigned char u8; typedef unsigned u32; typedef unsigned long long u64;
#ifdef _WIN32
#define SEC(n, w) __attribute__((section(w), used))
#elif defined(__APPLE__)
#define SEC(n, w) __attribute__((section("__NV_CUDA," n), used))
#else
#define SEC(n, w) __attribute__((section(n), used))
#endif
#ifndef __APPLE__
SEC(".hip_fatbin", ".hip_fat") __attribute__((aligned(64))) const u8 bundle[] =
  "__CLANG_OFFLOAD_BUNDLE__\1\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0hipv4-ab_hipcode";
SEC(".nv_fatbin", ".nv_fatb") __attribute__((aligned(8))) const u8 fatbin[] =
  "\x50\xed\x55\xba\1\0\x10\0\x08\0\0\0\0\0\0\0_cubin_";
struct wrapper { u32 magic, version; const void *data; u64 last; };
SEC(".hipFatBinSegment", ".hipFatB") struct wrapper hip = {0x48495046, 1, bundle, 0};
SEC(".nvFatBinSegment", ".nvFatBi") struct wrapper cuda = {0x466243b1, 1, fatbin, 0};
#ifdef __ELF__
SEC(".rocm_kpack_ref", "") const u8 kpack_ref[] = "\x82kpack";
SEC(".hipFatBinSegment", "") struct wrapper kpack = {0x4b504948, 1, kpack_ref, 7};
#endif
static const u8 spirv[] = "\x03\x02\x23\x07\0\0\1\0first";
static const u8 native[] = "\x28\xb5\x2f\xfdsecond image";
struct image9 { u16 version; u8 kind, format; const char *target, *compile, *link; const u8 *start, *end; void *e0, *e1, *p0, *p1; };
struct image8 { u16 version; u8 kind, format; const char *target, *compile, *link; void *m0, *m1; const u8 *start, *end; void *e0, *e1, *p0, *p1; };
__attribute__((used)) static const struct image9 new_images[] = {
  {3, 4, 2, "spir64", "", "", spirv, spirv + 13, 0, 0, 0, 0},
  {3, 8, 4, "spir64_gen", "-opt", 0, native, native + 16, 0, 0, 0, 0}};
__attribute__((used)) static const struct image8 old_image = {2, 4, 2, "spir64", "", "", 0, 0, spirv, spirv + 13, 0, 0, 0, 0};
#else
SEC("__nv_fatbin", "") const u8 fatbin[] = "\x50\xed\x55\xba\1\0\x10\0\x08\0\0\0\0\0\0\0_cubin_";
#endif
void _start(void) {}
