/* What clang calls for an atomic operation on AArch64, where PoCL's functions were compiled so that a program may choose
 * at run time between the instructions of Armv8.1 and a loop (https://gcc.gnu.org/onlinedocs/gcc/AArch64-Options.html,
 * -moutline-atomics). GCC's library has these functions, and an image is not linked with it. Here each is the loop,
 * in the strongest order, which every other one allows.
 *
 * Callers keep nothing in x15 to x17. Of an operation w0 is the operand and x1 the address, of an exchange w0 what is
 * expected, w1 what is to be written, and x2 the address; w0 becomes what was there.
 */
#define NAMED(NAME, BODY)                                                                          \
  __asm__(".section .text." NAME ",\"ax\",@progbits\n.balign 4\n.hidden " NAME "\n.globl " NAME    \
          "\n.type " NAME ",@function\n" NAME ":\n" BODY ".size " NAME ", . - " NAME "\n.text\n");
#define ORDERS(NAME, BODY)     \
  NAMED(NAME "_relax", BODY)   \
  NAMED(NAME "_acq", BODY)     \
  NAMED(NAME "_rel", BODY)     \
  NAMED(NAME "_acq_rel", BODY)
#define OPERATION(NAME, W, ENDING, STEP)                                                                      \
  ORDERS(NAME, "mov " W "16, " W "0\n0: ldaxr" ENDING " " W "0, [x1]\n" STEP "stlxr" ENDING " w15, " W "17, [x1]\n" \
               "cbnz w15, 0b\nret\n")
#define EXCHANGE(NAME, W, ENDING, EXTEND)                                                           \
  ORDERS(NAME, EXTEND "0: ldaxr" ENDING " " W "0, [x2]\ncmp " W "0, " W "16\nb.ne 1f\nstlxr" ENDING \
                      " w15, " W "1, [x2]\ncbnz w15, 0b\n1: ret\n")
#define SIZE(BYTES, W, ENDING, EXTEND)                                                              \
  OPERATION("__aarch64_ldadd" BYTES, W, ENDING, "add " W "17, " W "0, " W "16\n")                   \
  OPERATION("__aarch64_ldclr" BYTES, W, ENDING, "bic " W "17, " W "0, " W "16\n")                   \
  OPERATION("__aarch64_ldeor" BYTES, W, ENDING, "eor " W "17, " W "0, " W "16\n")                   \
  OPERATION("__aarch64_ldset" BYTES, W, ENDING, "orr " W "17, " W "0, " W "16\n")                   \
  OPERATION("__aarch64_swp" BYTES, W, ENDING, "mov " W "17, " W "16\n")                             \
  EXCHANGE("__aarch64_cas" BYTES, W, ENDING, EXTEND)
SIZE("1", "w", "b", "uxtb w16, w0\n")
SIZE("2", "w", "h", "uxth w16, w0\n")
SIZE("4", "w", "", "mov w16, w0\n")
SIZE("8", "x", "", "mov x16, x0\n")
