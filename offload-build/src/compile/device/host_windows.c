/* What an image for Windows has beside its kernels: it is linked without a C runtime's start code, and the system's
 * ucrtbase.dll lacks some functions of other systems' mathematics.
 */
typedef __SIZE_TYPE__ size_t;
typedef unsigned long long u64;

int DllMainCRTStartup(void *module, unsigned reason, void *reserved) { return 1; }

/* Thread-local storage (https://learn.microsoft.com/en-us/windows/win32/debug/pe-format#the-tls-section): the linker
 * sorts the parts of `.tls` by what follows the dollar sign. */
unsigned _tls_index;
__attribute__((section(".tls"))) char first_of_thread;
__attribute__((section(".tls$ZZZ"))) char last_of_thread;
const struct {
  const char *first, *last;
  unsigned *index;
  const void *callbacks;
  unsigned zeros, characteristics;
} _tls_used = {&first_of_thread, &last_of_thread, &_tls_index, 0, 0, 0};

/* Called with the size of a frame above a page in RAX: the system extends a stack by the page below the last one alone.
 * All registers are kept. */
__asm__(
    ".globl ___chkstk_ms\n"
    "___chkstk_ms:\n"
    "  pushq %rcx\n"
    "  pushq %rax\n"
    "  cmpq $0x1000, %rax\n"
    "  leaq 24(%rsp), %rcx\n"
    "  jb 2f\n"
    "1:\n"
    "  subq $0x1000, %rcx\n"
    "  testq %rcx, (%rcx)\n"
    "  subq $0x1000, %rax\n"
    "  cmpq $0x1000, %rax\n"
    "  ja 1b\n"
    "2:\n"
    "  subq %rax, %rcx\n"
    "  testq %rcx, (%rcx)\n"
    "  popq %rax\n"
    "  popq %rcx\n"
    "  ret\n");

/* The registers that a function keeps for its caller
 * (https://learn.microsoft.com/en-us/cpp/build/x64-software-conventions). The system's own unwinds the frames between. */
__asm__(
    ".globl _setjmp\n"
    "_setjmp:\n"
    "  movq (%rsp), %rax\n"
    "  movq %rax, (%rcx)\n"
    "  leaq 8(%rsp), %rax\n"
    "  movq %rax, 8(%rcx)\n"
    "  movq %rbx, 16(%rcx)\n"
    "  movq %rbp, 24(%rcx)\n"
    "  movq %rsi, 32(%rcx)\n"
    "  movq %rdi, 40(%rcx)\n"
    "  movq %r12, 48(%rcx)\n"
    "  movq %r13, 56(%rcx)\n"
    "  movq %r14, 64(%rcx)\n"
    "  movq %r15, 72(%rcx)\n"
    "  movups %xmm6, 80(%rcx)\n"
    "  movups %xmm7, 96(%rcx)\n"
    "  movups %xmm8, 112(%rcx)\n"
    "  movups %xmm9, 128(%rcx)\n"
    "  movups %xmm10, 144(%rcx)\n"
    "  movups %xmm11, 160(%rcx)\n"
    "  movups %xmm12, 176(%rcx)\n"
    "  movups %xmm13, 192(%rcx)\n"
    "  movups %xmm14, 208(%rcx)\n"
    "  movups %xmm15, 224(%rcx)\n"
    "  xorl %eax, %eax\n"
    "  ret\n"
    ".globl _longjmp\n"
    "_longjmp:\n"
    "  movl %edx, %eax\n"
    "  movq 16(%rcx), %rbx\n"
    "  movq 24(%rcx), %rbp\n"
    "  movq 32(%rcx), %rsi\n"
    "  movq 40(%rcx), %rdi\n"
    "  movq 48(%rcx), %r12\n"
    "  movq 56(%rcx), %r13\n"
    "  movq 64(%rcx), %r14\n"
    "  movq 72(%rcx), %r15\n"
    "  movups 80(%rcx), %xmm6\n"
    "  movups 96(%rcx), %xmm7\n"
    "  movups 112(%rcx), %xmm8\n"
    "  movups 128(%rcx), %xmm9\n"
    "  movups 144(%rcx), %xmm10\n"
    "  movups 160(%rcx), %xmm11\n"
    "  movups 176(%rcx), %xmm12\n"
    "  movups 192(%rcx), %xmm13\n"
    "  movups 208(%rcx), %xmm14\n"
    "  movups 224(%rcx), %xmm15\n"
    "  movq 8(%rcx), %rsp\n"
    "  jmpq *(%rcx)\n");

int __stdio_common_vsprintf(u64 options, char *text, size_t size, const char *format, void *locale,
                            __builtin_va_list args);

int snprintf(char *text, size_t size, const char *format, ...) {
  /* _CRT_INTERNAL_PRINTF_STANDARD_SNPRINTF_BEHAVIOR: what C99 says of texts that do not fit. */
  enum { STANDARD = 2 };
  __builtin_va_list args;
  __builtin_va_start(args, format);
  int result = __stdio_common_vsprintf(STANDARD, text, size, format, 0, args);
  __builtin_va_end(args);
  return result;
}

double sin(double), cos(double), frexp(double, int *), ldexp(double, int), rint(double);
float sinf(float), cosf(float), rintf(float);

void sincos(double x, double *sine, double *cosine) { *sine = sin(x), *cosine = cos(x); }
void sincosf(float x, float *sine, float *cosine) { *sine = sinf(x), *cosine = cosf(x); }
float frexpf(float x, int *exponent) { return (float)frexp(x, exponent); }
float ldexpf(float x, int exponent) { return (float)ldexp(x, exponent); }
/* Kernels run with the rounding mode that programs begin with, to the nearest even number. */
double roundeven(double x) { return rint(x); }
float roundevenf(float x) { return rintf(x); }
