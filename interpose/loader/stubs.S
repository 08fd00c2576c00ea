/* SPDX-License-Identifier: MIT */
/*
 * dlsym, dlvsym and dlopen as stubs. Each stub asks dlsym.c which function answers the call and
 * with which second argument. Then the stub jumps to that function with the stack unchanged. So the
 * real function sees the caller's return address, on which RTLD_NEXT, RTLD_DEFAULT and a library's
 * RPATH depend. If a C function called the real function instead, the result would be that for a
 * call from this library.
 */
    .text
    .macro STUB name
    .globl \name
    .type \name, %function
\name:
    .cfi_startproc
#if defined(__x86_64__)
    endbr64
    push %rdi
    .cfi_adjust_cfa_offset 8
    push %rsi
    .cfi_adjust_cfa_offset 8
    push %rdx
    .cfi_adjust_cfa_offset 8
    mov 24(%rsp), %rcx
    call \name\()_choose@PLT
    mov %rdx, %r11
    pop %rdx
    .cfi_adjust_cfa_offset -8
    pop %rsi
    .cfi_adjust_cfa_offset -8
    pop %rdi
    .cfi_adjust_cfa_offset -8
    mov %r11, %rsi
    jmp *%rax
#elif defined(__aarch64__)
    hint #34 /* bti c */
    stp x29, x30, [sp, #-48]!
    .cfi_def_cfa_offset 48
    .cfi_offset 29, -48
    .cfi_offset 30, -40
    stp x0, x2, [sp, #16]
    mov x3, x30
    bl \name\()_choose
    mov x16, x0
    ldp x0, x2, [sp, #16]
    ldp x29, x30, [sp], #48
    .cfi_def_cfa_offset 0
    .cfi_restore 29
    .cfi_restore 30
    br x16
#else
#error "the stubs are needed for this architecture"
#endif
    .cfi_endproc
    .size \name, . - \name
    .endm

    STUB dlsym
    STUB dlvsym
    STUB dlopen
    .section .note.GNU-stack, "", %progbits
