/* Functions of OpenCL C 1.2 that LLVM 22's SPIR-V back end leaves undefined, makes invalid instructions of, or gets
 * wrong. Only those that a module uses get into it. They are always inlined: the back end goes by names, and takes even
 * a function that is defined for its own.
 */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define INLINE __attribute__((always_inline, convergent))
#define VECTOR(type, n) typedef type type##n __attribute__((ext_vector_type(n)));
#define VECTORS(type) VECTOR(type, 2) VECTOR(type, 3) VECTOR(type, 4) VECTOR(type, 8) VECTOR(type, 16)
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned long size_t;
VECTORS(char) VECTORS(uchar) VECTORS(short) VECTORS(ushort) VECTORS(int) VECTORS(uint) VECTORS(long) VECTORS(ulong)
VECTORS(half) VECTORS(float) VECTORS(double)

/* Fences have no code in the back end. Their flags, CLK_LOCAL_MEM_FENCE and CLK_GLOBAL_MEM_FENCE, are 1 and 2; memory
 * semantics have bits 8 and 9 for the two kinds of memory, and 8 for acquiring and releasing
 * (https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html#Memory_Semantics_-id-). */
#define ACQUIRE_RELEASE 8
void OVERLOAD __attribute__((convergent)) __spirv_MemoryBarrier(uint, uint);
void OVERLOAD INLINE mem_fence(uint flags) { __spirv_MemoryBarrier(WORK_GROUP, (flags & 3) << 8 | ACQUIRE_RELEASE); }
void OVERLOAD INLINE read_mem_fence(uint flags) { mem_fence(flags); }
void OVERLOAD INLINE write_mem_fence(uint flags) { mem_fence(flags); }

/* OpAny and OpAll are for vectors of bool; the back end gives them integers, whose highest bits count. */
#define REDUCE(name, type, operator)                                                                          \
  int OVERLOAD INLINE name(type x) { return x < 0; }                                                          \
  int OVERLOAD INLINE name(type##2 x) { return name((type)(x.s0 operator x.s1)); }                            \
  int OVERLOAD INLINE name(type##3 x) { return name((type)(x.s0 operator x.s1 operator x.s2)); }              \
  int OVERLOAD INLINE name(type##4 x) { return name(x.lo operator x.hi); }                                    \
  int OVERLOAD INLINE name(type##8 x) { return name(x.lo operator x.hi); }                                    \
  int OVERLOAD INLINE name(type##16 x) { return name(x.lo operator x.hi); }
#define REDUCES(type) REDUCE(any, type, |) REDUCE(all, type, &)
REDUCES(char) REDUCES(short) REDUCES(int) REDUCES(long)

/* One exponent for all elements has to become a vector. */
#define LDEXP(type, n)                                     \
  type##n OVERLOAD ldexp(type##n x, int##n k);             \
  type##n OVERLOAD INLINE ldexp(type##n x, int k) { return ldexp(x, (int##n)(k)); }
#define LDEXPS(type) LDEXP(type, 2) LDEXP(type, 3) LDEXP(type, 4) LDEXP(type, 8) LDEXP(type, 16)
LDEXPS(half) LDEXPS(float) LDEXPS(double)

/* The instruction's values start at 0 where OpenCL's start at CLK_SNORM_INT8. The back end goes by the name alone,
 * without the types that are mangled into it: that reaches the instruction from here. */
#define CLK_SNORM_INT8 0x10D0
#define DATA_TYPE(access, image, mangled)                                                                            \
  int raw_data_type(access image) __asm__("_Z27get_image_channel_data_type" mangled "i") OVERLOAD;                  \
  int OVERLOAD INLINE get_image_channel_data_type(access image i) { return raw_data_type(i) + CLK_SNORM_INT8; }
#define DATA_TYPES(image, mangled) \
  DATA_TYPE(read_only, image##_t, mangled "_ro") DATA_TYPE(write_only, image##_t, mangled "_wo")
DATA_TYPES(image1d, "14ocl_image1d")
DATA_TYPES(image1d_buffer, "21ocl_image1d_buffer")
DATA_TYPES(image1d_array, "20ocl_image1d_array")
DATA_TYPES(image2d, "14ocl_image2d")
DATA_TYPES(image2d_array, "20ocl_image2d_array")
DATA_TYPES(image3d, "14ocl_image3d")

/* Drivers take the address of the third vector of three for that of packed ones; they have the room of four. */
#define LOAD3(space)                                                                                          \
  float3 OVERLOAD vload_half3(size_t, const space half *);                                                    \
  float3 OVERLOAD INLINE vloada_half3(size_t n, const space half *p) { return vload_half3(0, p + n * 4); }
LOAD3(__global) LOAD3(__constant) LOAD3(__local) LOAD3(__private)

/* Two asynchronous copies without an event in one function become an invalid module. A copy may be done when it
 * returns; waiting for it is then a barrier. */
size_t OVERLOAD get_local_id(uint);
size_t OVERLOAD get_local_size(uint);
void OVERLOAD __attribute__((convergent)) barrier(uint);
static INLINE size_t item(void) {
  return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
}
static INLINE size_t items(void) { return get_local_size(0) * get_local_size(1) * get_local_size(2); }

#define COPY(type, to, from, to_stride, from_stride)                                                                 \
  event_t OVERLOAD INLINE async_work_group_copy(to type *d, const from type *s, size_t n, event_t e) {           \
    for (size_t i = item(), step = items(); i < n; i += step) d[i] = s[i];                                           \
    return e;                                                                                                        \
  }                                                                                                                  \
  event_t OVERLOAD INLINE async_work_group_strided_copy(to type *d, const from type *s, size_t n, size_t stride, \
                                                            event_t e) {                                             \
    for (size_t i = item(), step = items(); i < n; i += step) d[i * (to_stride)] = s[i * (from_stride)];             \
    return e;                                                                                                        \
  }
#define COPIES(type) COPY(type, __local, __global, 1, stride) COPY(type, __global, __local, stride, 1)
#define COPIES_OF(type) COPIES(type) COPIES(type##2) COPIES(type##3) COPIES(type##4) COPIES(type##8) COPIES(type##16)
COPIES_OF(char) COPIES_OF(uchar) COPIES_OF(short) COPIES_OF(ushort) COPIES_OF(int) COPIES_OF(uint) COPIES_OF(long)
COPIES_OF(ulong) COPIES_OF(half) COPIES_OF(float) COPIES_OF(double)

void OVERLOAD INLINE wait_group_events(int n, __private event_t *events) { barrier(3); }
void OVERLOAD INLINE wait_group_events(int n, __generic event_t *events) { barrier(3); }
