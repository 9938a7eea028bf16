
// https://docs.nvidia.com/cuda/cuda-c-programming-guide/#atomic-functions
#define __OFFLOAD_ATOMIC_IN(NAME, BUILTIN, TYPE, SCOPE) \
  __OFFLOAD_FN TYPE atomic##NAME(TYPE *p, TYPE v) { return BUILTIN(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_##SCOPE); }
#ifdef __OFFLOAD_HAS_SYSTEM_ATOMICS
#define __OFFLOAD_ATOMIC_SYSTEM(NAME, BUILTIN, TYPE)
#else
#define __OFFLOAD_ATOMIC_SYSTEM(NAME, BUILTIN, TYPE) __OFFLOAD_ATOMIC_IN(NAME##_system, BUILTIN, TYPE, SYSTEM)
#endif
#define __OFFLOAD_ATOMIC(NAME, BUILTIN, TYPE) \
  __OFFLOAD_ATOMIC_IN(NAME, BUILTIN, TYPE, DEVICE) __OFFLOAD_ATOMIC_IN(NAME##_block, BUILTIN, TYPE, WRKGRP) \
  __OFFLOAD_ATOMIC_SYSTEM(NAME, BUILTIN, TYPE)
#define __OFFLOAD_ATOMIC_CAS(NAME, TYPE, SCOPE) \
  __OFFLOAD_FN TYPE NAME(TYPE *p, TYPE expected, TYPE v) { \
    __scoped_atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, \
                                       __MEMORY_SCOPE_##SCOPE); \
    return expected; \
  }
#define __OFFLOAD_ATOMICS(TYPE) \
  __OFFLOAD_ATOMIC(Add, __scoped_atomic_fetch_add, TYPE) __OFFLOAD_ATOMIC(Sub, __scoped_atomic_fetch_sub, TYPE) \
  __OFFLOAD_ATOMIC(Min, __scoped_atomic_fetch_min, TYPE) __OFFLOAD_ATOMIC(Max, __scoped_atomic_fetch_max, TYPE) \
  __OFFLOAD_ATOMIC(And, __scoped_atomic_fetch_and, TYPE) __OFFLOAD_ATOMIC(Or, __scoped_atomic_fetch_or, TYPE) \
  __OFFLOAD_ATOMIC(Xor, __scoped_atomic_fetch_xor, TYPE) __OFFLOAD_ATOMIC(Exch, __scoped_atomic_exchange_n, TYPE) \
  __OFFLOAD_ATOMIC_CAS(atomicCAS, TYPE, DEVICE) __OFFLOAD_ATOMIC_CAS(atomicCAS_block, TYPE, WRKGRP) \
  __OFFLOAD_ATOMIC_CAS(atomicCAS_system, TYPE, SYSTEM)
__OFFLOAD_ATOMICS(int)
__OFFLOAD_ATOMICS(unsigned int)
__OFFLOAD_ATOMICS(unsigned long long)
__OFFLOAD_ATOMICS(long long)
__OFFLOAD_ATOMIC(Add, __scoped_atomic_fetch_add, float)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
__OFFLOAD_ATOMIC(Add, __scoped_atomic_fetch_add, double)
#endif
#undef __OFFLOAD_ATOMICS
#undef __OFFLOAD_ATOMIC_CAS

// Of 16 bits: a loop over the word around them where there is no such instruction.
__OFFLOAD_FN unsigned short atomicCAS(unsigned short *p, unsigned short expected, unsigned short v) {
#ifdef __OFFLOAD_HAS_ATOMICS_16
  return __offload_atomic_exchange_16(p, expected, v);
#else
  size_t address = (size_t)p;
  unsigned int *word = (unsigned int *)(address & ~(size_t)3);
  unsigned int shift = (unsigned int)(address & 2) * 8;
  unsigned int old = __scoped_atomic_load_n(word, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  for (;;) {
    unsigned short now = (unsigned short)(old >> shift);
    if (now != expected)
      return now;
    unsigned int seen = atomicCAS(word, old, (old & ~(0xffffu << shift)) | ((unsigned int)v << shift));
    if (seen == old)
      return now;
    old = seen;
  }
#endif
}
__OFFLOAD_FN unsigned int atomicInc(unsigned int *p, unsigned int limit) {
  return __offload_atomic_increment(p, limit);
}
__OFFLOAD_FN unsigned int atomicDec(unsigned int *p, unsigned int limit) {
  return __offload_atomic_decrement(p, limit);
}
__OFFLOAD_FN unsigned int atomicInc_block(unsigned int *p, unsigned int limit) { return atomicInc(p, limit); }
__OFFLOAD_FN unsigned int atomicDec_block(unsigned int *p, unsigned int limit) { return atomicDec(p, limit); }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
__OFFLOAD_FN unsigned int atomicInc_system(unsigned int *p, unsigned int limit) {
  return __offload_atomic_increment_system(p, limit);
}
__OFFLOAD_FN unsigned int atomicDec_system(unsigned int *p, unsigned int limit) {
  return __offload_atomic_decrement_system(p, limit);
}
#endif
#define __OFFLOAD_EXCHANGE(NAME) \
  __OFFLOAD_FN float NAME(float *p, float v) { return __int_as_float(NAME((int *)p, __float_as_int(v))); }
__OFFLOAD_EXCHANGE(atomicExch) __OFFLOAD_EXCHANGE(atomicExch_block) __OFFLOAD_EXCHANGE(atomicExch_system)
#undef __OFFLOAD_EXCHANGE
// Of vectors from sm_90 on: each number is atomic, and not the vector. clang's headers have them for NVIDIA.
#if (defined(__AMDGCN__) || defined(__OFFLOAD_TARGET_HOST)) && __CUDA_ARCH__ >= 900
__OFFLOAD_FN float2 atomicAdd(float2 *p, float2 v) { return {atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y)}; }
__OFFLOAD_FN float4 atomicAdd(float4 *p, float4 v) {
  return {atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y), atomicAdd(&p->z, v.z), atomicAdd(&p->w, v.w)};
}
#endif
// Built-in functions with orders and scopes. Around an operation of another order than relaxed stand fences of the scope.
// https://docs.nvidia.com/cuda/cuda-c-programming-guide/#atomic-functions
#define __NV_ATOMIC_RELAXED __ATOMIC_RELAXED
#define __NV_ATOMIC_CONSUME __ATOMIC_CONSUME
#define __NV_ATOMIC_ACQUIRE __ATOMIC_ACQUIRE
#define __NV_ATOMIC_RELEASE __ATOMIC_RELEASE
#define __NV_ATOMIC_ACQ_REL __ATOMIC_ACQ_REL
#define __NV_ATOMIC_SEQ_CST __ATOMIC_SEQ_CST
#define __NV_THREAD_SCOPE_THREAD __MEMORY_SCOPE_SINGLE
#define __NV_THREAD_SCOPE_BLOCK __MEMORY_SCOPE_WRKGRP
// No function here knows clusters: the scope around them.
#define __NV_THREAD_SCOPE_CLUSTER __MEMORY_SCOPE_DEVICE
#define __NV_THREAD_SCOPE_DEVICE __MEMORY_SCOPE_DEVICE
#define __NV_THREAD_SCOPE_SYSTEM __MEMORY_SCOPE_SYSTEM
__OFFLOAD_FN void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  if (order == __NV_ATOMIC_RELAXED || scope == __NV_THREAD_SCOPE_THREAD) return;
  if (scope == __NV_THREAD_SCOPE_SYSTEM)
    __threadfence_system();
  else if (scope == __NV_THREAD_SCOPE_BLOCK)
    __threadfence_block();
  else
    __threadfence();
}
__OFFLOAD_FN void __offload_fence_before(int order, int scope) {
  if (order >= __NV_ATOMIC_RELEASE) __nv_atomic_thread_fence(order, scope);
}
__OFFLOAD_FN void __offload_fence_after(int order, int scope) {
  if (order != __NV_ATOMIC_RELEASE) __nv_atomic_thread_fence(order, scope);
}
template <typename T>
__OFFLOAD_FN T __nv_atomic_load_n(const volatile T *p, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  if (order == __NV_ATOMIC_SEQ_CST) __nv_atomic_thread_fence(order, scope);
  T loaded = __scoped_atomic_load_n((const T *)p, __ATOMIC_RELAXED, scope);
  __offload_fence_after(order, scope);
  return loaded;
}
template <typename T, typename V>
__OFFLOAD_FN void __nv_atomic_store_n(T *p, V v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  __offload_fence_before(order, scope);
  __scoped_atomic_store_n(p, (T)v, __ATOMIC_RELAXED, scope);
}
template <typename T, typename V>
__OFFLOAD_FN bool __nv_atomic_compare_exchange_n(T *p, T *expected, V v, bool, int success, int failure,
                                                 int scope = __NV_THREAD_SCOPE_SYSTEM) {
  __offload_fence_before(success, scope);
  bool is_equal =
      __scoped_atomic_compare_exchange_n(p, expected, (T)v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope);
  __offload_fence_after(is_equal ? success : failure, scope);
  return is_equal;
}
#define __OFFLOAD_BUILT_IN(NAME, FUNCTION) \
  template <typename T, typename V> \
  __OFFLOAD_FN T NAME(T *p, V v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) { \
    __offload_fence_before(order, scope); \
    T old; \
    if (scope == __NV_THREAD_SCOPE_SYSTEM) \
      old = FUNCTION##_system(p, (T)v); \
    else if (scope == __NV_THREAD_SCOPE_DEVICE) \
      old = FUNCTION(p, (T)v); \
    else \
      old = FUNCTION##_block(p, (T)v); \
    __offload_fence_after(order, scope); \
    return old; \
  }
#define __OFFLOAD_BUILT_INS(NAME, FUNCTION) \
  __OFFLOAD_BUILT_IN(__nv_atomic_fetch_##NAME, FUNCTION) __OFFLOAD_BUILT_IN(__nv_atomic_##NAME, FUNCTION)
__OFFLOAD_BUILT_IN(__nv_atomic_exchange_n, atomicExch)
__OFFLOAD_BUILT_INS(add, atomicAdd) __OFFLOAD_BUILT_INS(sub, atomicSub) __OFFLOAD_BUILT_INS(min, atomicMin)
__OFFLOAD_BUILT_INS(max, atomicMax) __OFFLOAD_BUILT_INS(and, atomicAnd) __OFFLOAD_BUILT_INS(or, atomicOr)
__OFFLOAD_BUILT_INS(xor, atomicXor)
#undef __OFFLOAD_BUILT_INS
#undef __OFFLOAD_BUILT_IN
#undef __OFFLOAD_ATOMIC
#undef __OFFLOAD_ATOMIC_SYSTEM
#undef __OFFLOAD_ATOMIC_IN
#undef __OFFLOAD_FN
