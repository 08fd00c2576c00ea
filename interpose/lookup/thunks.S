/* SPDX-License-Identifier: MIT */
/*
 * The thunks of thunks.h. Each thunk loads its number and jumps to `run`. `run` stores the address
 * of the row of resolve_thunks with that number in this thread's resolve_handed, and jumps to the
 * row's hook. The thunks change only registers that a call may change, and keep the caller's return
 * address.
 */
#include "thunks.h"

    .text
    .globl thunks_code
    .hidden thunks_code
    .hidden resolve_thunks
    .hidden resolve_handed
    .type thunks_code, %function
    .balign 16
thunks_code:
    .cfi_startproc
    .set number, 0
    .rept THUNK_LIMIT
    .balign THUNK_BYTES
#if defined(__x86_64__)
    endbr64
    mov $number, %eax
    jmp run
#elif defined(__aarch64__)
    hint #34 /* bti c */
    mov w16, #number
    b run
#else
#error "thunks are needed for this architecture"
#endif
    .set number, number + 1
    .endr
run:
#if defined(__x86_64__)
    shl $4, %eax
    lea resolve_thunks(%rip), %r10
    add %rax, %r10
    mov resolve_handed@gottpoff(%rip), %r11
    mov %r10, %fs:(%r11)
    jmp *(%r10)
#else
    adrp x17, resolve_thunks
    add x17, x17, :lo12:resolve_thunks
    add x17, x17, x16, lsl #4
    adrp x16, :gottprel:resolve_handed
    ldr x16, [x16, :gottprel_lo12:resolve_handed]
    mrs x9, tpidr_el0
    str x17, [x9, x16]
    ldr x16, [x17]
    br x16
#endif
    .cfi_endproc
    .size thunks_code, . - thunks_code
    .section .note.GNU-stack, "", %progbits
