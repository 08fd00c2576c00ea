/* SPDX-License-Identifier: MIT */
/*
 * dlsym as a stub: asks dlsym_choose(handle, name) which function answers, then jumps there with
 * the stack as it was. So the real dlsym sees the caller's own return address, on which RTLD_NEXT
 * and RTLD_DEFAULT depend; a wrapper in C would answer for itself.
 */
    .text
    .globl dlsym
    .type dlsym, %function
dlsym:
    .cfi_startproc
#if defined(__x86_64__)
    endbr64
    push %rdi
    .cfi_adjust_cfa_offset 8
    push %rsi
    .cfi_adjust_cfa_offset 8
    sub $8, %rsp
    .cfi_adjust_cfa_offset 8
    call dlsym_choose@PLT
    add $8, %rsp
    .cfi_adjust_cfa_offset -8
    pop %rsi
    .cfi_adjust_cfa_offset -8
    pop %rdi
    .cfi_adjust_cfa_offset -8
    jmp *%rax
#elif defined(__aarch64__)
    stp x29, x30, [sp, #-32]!
    .cfi_def_cfa_offset 32
    .cfi_offset 29, -32
    .cfi_offset 30, -24
    stp x0, x1, [sp, #16]
    bl dlsym_choose
    mov x16, x0
    ldp x0, x1, [sp, #16]
    ldp x29, x30, [sp], #32
    .cfi_def_cfa_offset 0
    .cfi_restore 29
    .cfi_restore 30
    br x16
#else
#error "dlsym needs a stub for this architecture"
#endif
    .cfi_endproc
    .size dlsym, . - dlsym
    .section .note.GNU-stack, "", %progbits
