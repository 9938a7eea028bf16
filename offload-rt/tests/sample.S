/* What offload-build adds to a program, written by hand. The text in front of it defines .Loffload_pack and
   .Loffload_pack_end. */
    .pushsection .note.offload, "a", @note
    .balign 4
    .long 8, 40, 1
    .ascii "OFFLOAD\0"
    .long 1, 0
    .quad __offload_anchor_sample - .
    .hidden __ehdr_start
    .quad __ehdr_start - .
    .fill 16, 1, 0
    .popsection

    .pushsection offload_tab, "a", @progbits
    .balign 8
    .globl __offload_anchor_sample
    .hidden __offload_anchor_sample
__offload_anchor_sample:
    .ascii "OFLDDESC"
    .long 64
    .short 1, 0
    .quad .Loffload_pack - .
    .quad .Loffload_pack_end - .Loffload_pack
    .fill 32, 1, 0
    .popsection
