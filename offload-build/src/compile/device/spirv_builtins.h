/* What `spirv_assert.cl` calls; clang's own header declares it too, and would make its compile slow. */
#define CLK_GLOBAL_MEM_FENCE 2
#define BUILTIN __attribute__((overloadable))
unsigned long BUILTIN get_global_id(unsigned int);
unsigned int BUILTIN atomic_inc(volatile __global unsigned int *);
unsigned int BUILTIN atomic_xchg(volatile __global unsigned int *, unsigned int);
unsigned int BUILTIN atomic_cmpxchg(volatile __global unsigned int *, unsigned int, unsigned int);
void BUILTIN mem_fence(unsigned int);
int printf(__constant const char *, ...);
