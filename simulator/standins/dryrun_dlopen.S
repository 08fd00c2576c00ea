/* SPDX-License-Identifier: MIT */
/*
 * dlopen asks dryrun.c which function to call and with which path. Then it jumps to that function
 * with an unchanged stack, because the loader searches the RPATH of the library at the return
 * address.
 */
    .text
    .globl dlopen
    .type dlopen, %function
dlopen:
    .cfi_startproc
#if defined(__x86_64__)
    endbr64
    push %rsi
    .cfi_adjust_cfa_offset 8
    mov 8(%rsp), %rsi /* caller's address */
    call dryrun_dlopen_choose@PLT
    pop %rsi
    .cfi_adjust_cfa_offset -8
    mov %rdx, %rdi
    jmp *%rax
#elif defined(__aarch64__)
    hint #34 /* bti c */
    stp x29, x30, [sp, #-32]!
    .cfi_def_cfa_offset 32
    .cfi_offset 29, -32
    .cfi_offset 30, -24
    str x1, [sp, #16]
    mov x1, x30 /* caller's address */
    bl dryrun_dlopen_choose
    mov x16, x0
    mov x0, x1
    ldr x1, [sp, #16]
    ldp x29, x30, [sp], #32
    .cfi_def_cfa_offset 0
    .cfi_restore 29
    .cfi_restore 30
    br x16
#else
#error "dlopen is needed for this architecture"
#endif
    .cfi_endproc
    .size dlopen, . - dlopen

    .section .note.GNU-stack, "", %progbits
