/* SPDX-License-Identifier: MIT */
/*
 * Functions without a body. Each exported name of runtime_functions.def gets a weak entry here. A C
 * file that defines the function replaces the entry at link time, so that no list of bodies is
 * needed. It is written in assembly because an entry must work for every prototype: it reads no
 * parameter.
 */
#if defined(__x86_64__)
#define GO_TO(target, text) lea text(%rip), %rdi; jmp target
#elif defined(__aarch64__)
#define GO_TO(target, text) adrp x0, text; add x0, x0, :lo12:text; b target
#else
#error "say here how this processor jumps"
#endif

    .text

/* An exported entry: counts the call by its name, sets the thread's last error and returns
 * cudaErrorNotSupported (error.c). */
#define RUNTIME_FUNCTION(versions, symbol)                                                         \
    .weak symbol; .type symbol, %function; symbol: GO_TO(runtime_function_missing, 1f); .size symbol, . - symbol; \
    .pushsection .rodata; 1: .asciz #symbol; .popsection;
#include "gpumemtrace/cuda/runtime_functions.def"

    .section .note.GNU-stack, "", %progbits
