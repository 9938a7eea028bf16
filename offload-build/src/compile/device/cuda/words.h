
// Arithmetic with the two or four parts of a word:
// https://docs.nvidia.com/cuda/cuda-math-api/cuda_math_api/group__CUDA__MATH__INTRINSIC__SIMD.html
#define __OFFLOAD_WORD(NAME, EXPRESSION) \
  __OFFLOAD_FN unsigned int NAME(unsigned int a, unsigned int b) { return __builtin_bit_cast(unsigned int, EXPRESSION); }
#define __OFFLOAD_ONE_WORD(NAME, EXPRESSION) \
  __OFFLOAD_FN unsigned int NAME(unsigned int a) { return __builtin_bit_cast(unsigned int, EXPRESSION); }
#define __OFFLOAD_S(N, V) __builtin_bit_cast(__offload_s##N, V)
#define __OFFLOAD_U(N, V) __builtin_bit_cast(__offload_u##N, V)
// Wide enough for sums and differences.
#define __OFFLOAD_WIDE(N, V) __builtin_convertvector(V, __offload_wide##N)
#define __OFFLOAD_NARROW(N, V) __builtin_convertvector(V, __offload_u##N)
#define __OFFLOAD_EITHER(N, NAME, OPERATOR, PARTS) \
  __OFFLOAD_WORD(__vcmp##NAME##N, PARTS(N, a) OPERATOR PARTS(N, b)) \
  __OFFLOAD_WORD(__vset##NAME##N, -(PARTS(N, a) OPERATOR PARTS(N, b)))
#define __OFFLOAD_PARTS(N, SIGNED, UNSIGNED) \
  typedef SIGNED __offload_s##N __attribute__((ext_vector_type(N))); \
  typedef UNSIGNED __offload_u##N __attribute__((ext_vector_type(N))); \
  typedef int __offload_wide##N __attribute__((ext_vector_type(N))); \
  __OFFLOAD_WORD(__vadd##N, __OFFLOAD_U(N, a) + __OFFLOAD_U(N, b)) \
  __OFFLOAD_WORD(__vsub##N, __OFFLOAD_U(N, a) - __OFFLOAD_U(N, b)) \
  __OFFLOAD_WORD(__vaddss##N, __builtin_elementwise_add_sat(__OFFLOAD_S(N, a), __OFFLOAD_S(N, b))) \
  __OFFLOAD_WORD(__vaddus##N, __builtin_elementwise_add_sat(__OFFLOAD_U(N, a), __OFFLOAD_U(N, b))) \
  __OFFLOAD_WORD(__vsubss##N, __builtin_elementwise_sub_sat(__OFFLOAD_S(N, a), __OFFLOAD_S(N, b))) \
  __OFFLOAD_WORD(__vsubus##N, __builtin_elementwise_sub_sat(__OFFLOAD_U(N, a), __OFFLOAD_U(N, b))) \
  __OFFLOAD_WORD(__vmins##N, __builtin_elementwise_min(__OFFLOAD_S(N, a), __OFFLOAD_S(N, b))) \
  __OFFLOAD_WORD(__vmaxs##N, __builtin_elementwise_max(__OFFLOAD_S(N, a), __OFFLOAD_S(N, b))) \
  __OFFLOAD_WORD(__vminu##N, __builtin_elementwise_min(__OFFLOAD_U(N, a), __OFFLOAD_U(N, b))) \
  __OFFLOAD_WORD(__vmaxu##N, __builtin_elementwise_max(__OFFLOAD_U(N, a), __OFFLOAD_U(N, b))) \
  __OFFLOAD_WORD(__vabsdiffs##N, __OFFLOAD_NARROW(N, __builtin_elementwise_abs(__OFFLOAD_WIDE(N, __OFFLOAD_S(N, a)) - \
                                                                               __OFFLOAD_WIDE(N, __OFFLOAD_S(N, b))))) \
  __OFFLOAD_WORD(__vabsdiffu##N, __OFFLOAD_NARROW(N, __builtin_elementwise_abs(__OFFLOAD_WIDE(N, __OFFLOAD_U(N, a)) - \
                                                                               __OFFLOAD_WIDE(N, __OFFLOAD_U(N, b))))) \
  /* Half a step is rounded away from zero, of unsigned numbers up. */ \
  __OFFLOAD_FN unsigned int __vavgs##N(unsigned int a, unsigned int b) { \
    __offload_wide##N sum = __OFFLOAD_WIDE(N, __OFFLOAD_S(N, a)) + __OFFLOAD_WIDE(N, __OFFLOAD_S(N, b)); \
    return __builtin_bit_cast(unsigned int, __OFFLOAD_NARROW(N, (sum - (sum >= 0)) >> 1)); \
  } \
  __OFFLOAD_WORD(__vavgu##N, __OFFLOAD_NARROW(N, (__OFFLOAD_WIDE(N, __OFFLOAD_U(N, a)) + \
                                                  __OFFLOAD_WIDE(N, __OFFLOAD_U(N, b)) + 1) >> 1)) \
  __OFFLOAD_WORD(__vhaddu##N, __OFFLOAD_NARROW(N, (__OFFLOAD_WIDE(N, __OFFLOAD_U(N, a)) + \
                                                   __OFFLOAD_WIDE(N, __OFFLOAD_U(N, b))) >> 1)) \
  __OFFLOAD_ONE_WORD(__vneg##N, -__OFFLOAD_U(N, a)) \
  __OFFLOAD_ONE_WORD(__vnegss##N, __builtin_elementwise_sub_sat((__offload_s##N)0, __OFFLOAD_S(N, a))) \
  __OFFLOAD_ONE_WORD(__vabs##N, __OFFLOAD_NARROW(N, __builtin_elementwise_abs(__OFFLOAD_WIDE(N, __OFFLOAD_S(N, a))))) \
  __OFFLOAD_ONE_WORD(__vabsss##N, __builtin_elementwise_max(__OFFLOAD_S(N, a), __OFFLOAD_S(N, __vnegss##N(a)))) \
  __OFFLOAD_FN unsigned int __vsads##N(unsigned int a, unsigned int b) { \
    return __builtin_reduce_add(__OFFLOAD_WIDE(N, __OFFLOAD_U(N, __vabsdiffs##N(a, b)))); \
  } \
  __OFFLOAD_FN unsigned int __vsadu##N(unsigned int a, unsigned int b) { \
    return __builtin_reduce_add(__OFFLOAD_WIDE(N, __OFFLOAD_U(N, __vabsdiffu##N(a, b)))); \
  } \
  __OFFLOAD_EITHER(N, eq, ==, __OFFLOAD_U) __OFFLOAD_EITHER(N, ne, !=, __OFFLOAD_U) \
  __OFFLOAD_EITHER(N, les, <=, __OFFLOAD_S) __OFFLOAD_EITHER(N, leu, <=, __OFFLOAD_U) \
  __OFFLOAD_EITHER(N, lts, <, __OFFLOAD_S) __OFFLOAD_EITHER(N, ltu, <, __OFFLOAD_U) \
  __OFFLOAD_EITHER(N, ges, >=, __OFFLOAD_S) __OFFLOAD_EITHER(N, geu, >=, __OFFLOAD_U) \
  __OFFLOAD_EITHER(N, gts, >, __OFFLOAD_S) __OFFLOAD_EITHER(N, gtu, >, __OFFLOAD_U)
__OFFLOAD_PARTS(2, short, unsigned short)
__OFFLOAD_PARTS(4, signed char, unsigned char)
#undef __OFFLOAD_PARTS
#undef __OFFLOAD_EITHER
#undef __OFFLOAD_ONE_WORD
#undef __OFFLOAD_WORD

// Sums of products of parts: https://docs.nvidia.com/cuda/parallel-thread-execution/#integer-arithmetic-instructions-dp4a
#define __OFFLOAD_DOT(TYPE, PART) \
  __OFFLOAD_FN TYPE __offload_dp4a(TYPE a, TYPE b, TYPE c) { \
    _Pragma("unroll") for (int i = 0; i < 4; i++) c += PART(4, a)[i] * PART(4, b)[i]; \
    return c; \
  } \
  __OFFLOAD_FN TYPE __dp2a_lo(TYPE a, TYPE b, TYPE c) { \
    return c + PART(2, a)[0] * PART(4, b)[0] + PART(2, a)[1] * PART(4, b)[1]; \
  } \
  __OFFLOAD_FN TYPE __dp2a_hi(TYPE a, TYPE b, TYPE c) { \
    return c + PART(2, a)[0] * PART(4, b)[2] + PART(2, a)[1] * PART(4, b)[3]; \
  }
__OFFLOAD_DOT(int, __OFFLOAD_S)
__OFFLOAD_DOT(unsigned int, __OFFLOAD_U)
#ifdef __OFFLOAD_DP4A
__OFFLOAD_FN int __dp4a(int a, int b, int c) { return __OFFLOAD_DP4A(a, b, c); }
__OFFLOAD_FN unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) { return __OFFLOAD_UDP4A(a, b, c); }
#else
__OFFLOAD_FN int __dp4a(int a, int b, int c) { return __offload_dp4a(a, b, c); }
__OFFLOAD_FN unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) { return __offload_dp4a(a, b, c); }
#endif
#undef __OFFLOAD_DOT
#undef __OFFLOAD_WIDE
#undef __OFFLOAD_NARROW
#undef __OFFLOAD_S
#undef __OFFLOAD_U

// Loads and stores with a hint for the caches: https://docs.nvidia.com/cuda/cuda-c-programming-guide/#load-functions-using-cache-hints
#define __OFFLOAD_LOAD(NAME) \
  template <typename T> __OFFLOAD_FN T NAME(const T *p) { return *p; }
__OFFLOAD_LOAD(__ldg) __OFFLOAD_LOAD(__ldca) __OFFLOAD_LOAD(__ldcg) __OFFLOAD_LOAD(__ldcs) __OFFLOAD_LOAD(__ldlu)
#undef __OFFLOAD_LOAD
// What another thread may have written meanwhile.
template <typename T> __OFFLOAD_FN T __ldcv(const T *p) {
  __threadfence_system();
  return *p;
}
#define __OFFLOAD_STORE(NAME) \
  template <typename T> __OFFLOAD_FN void NAME(T *p, T v) { *p = v; }
__OFFLOAD_STORE(__stwb) __OFFLOAD_STORE(__stcg) __OFFLOAD_STORE(__stcs) __OFFLOAD_STORE(__stwt)
#undef __OFFLOAD_STORE
__OFFLOAD_FN int clock() { return (int)clock64(); }
