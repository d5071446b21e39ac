/* The exported functions of the library for every MPI, see front.c. Each jumps to where rondo_one_targets says. At
 * first that is code beside it which has the core chosen, and then goes on to that with the arguments as they came. */

    .section .data.rondo_one_targets, "aw"
    .p2align 3
    .globl rondo_one_targets
    .hidden rondo_one_targets
rondo_one_targets:
    .text

#if defined(__x86_64__)

.macro entry name, place
    .p2align 4
    .globl \name
    .type \name, @function
\name:
    .cfi_startproc
    endbr64
    jmp *rondo_one_targets+8*\place(%rip)
    .cfi_endproc
    .size \name, . - \name
first_\place:
    .cfi_startproc
    endbr64
    pushq $\place
    .cfi_adjust_cfa_offset 8
    jmp first
    .cfi_endproc
    .pushsection .data.rondo_one_targets
    .quad first_\place
    .popsection
.endm

/* On the stack: the place, and above it where the function is to return to. */
first:
    .cfi_startproc
    .cfi_adjust_cfa_offset 8
    push %rdi
    push %rsi
    push %rdx
    push %rcx
    push %r8
    push %r9
    .cfi_adjust_cfa_offset 48
    mov 48(%rsp), %rdi
    call rondo_one_choose
    mov %rax, %r11
    pop %r9
    pop %r8
    pop %rcx
    pop %rdx
    pop %rsi
    pop %rdi
    add $8, %rsp
    .cfi_adjust_cfa_offset -56
    jmp *%r11
    .cfi_endproc

#elif defined(__aarch64__)

.macro entry name, place
    .p2align 4
    .globl \name
    .type \name, %function
\name:
    .cfi_startproc
    hint #34
    adrp x16, rondo_one_targets+8*\place
    ldr x16, [x16, #:lo12:rondo_one_targets+8*\place]
    br x16
    .cfi_endproc
    .size \name, . - \name
first_\place:
    .cfi_startproc
    hint #34
    mov x17, #\place
    b first
    .cfi_endproc
    .pushsection .data.rondo_one_targets
    .xword first_\place
    .popsection
.endm

/* In x17: the place. */
first:
    .cfi_startproc
    stp x29, x30, [sp, #-96]!
    .cfi_def_cfa_offset 96
    .cfi_offset x29, -96
    .cfi_offset x30, -88
    mov x29, sp
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    stp x6, x7, [sp, #64]
    mov x0, x17
    bl rondo_one_choose
    mov x16, x0
    ldp x6, x7, [sp, #64]
    ldp x4, x5, [sp, #48]
    ldp x2, x3, [sp, #32]
    ldp x0, x1, [sp, #16]
    ldp x29, x30, [sp], #96
    .cfi_def_cfa_offset 0
    .cfi_restore x29
    .cfi_restore x30
    br x16
    .cfi_endproc

#else
#error "the entries are written for x86-64 and aarch64"
#endif

#define NAME(name, place) entry name, place
#include "names.h"

    .section .note.GNU-stack, "", %progbits
