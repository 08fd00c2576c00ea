/* SPDX-License-Identifier: MIT */
/*
 * What stands in where there is no body. Every exported name of runtime_functions.def gets a weak
 * entry of its own here; a C file that defines the function takes its place at link time, so no list
 * says which functions have one. In assembly, because an entry has to suit whatever its caller
 * passes: it looks at no argument.
 */
#if defined(__x86_64__)
#define GO_TO(target) jmp target
#elif defined(__aarch64__)
#define GO_TO(target) b target
#else
#error "say here how this processor jumps"
#endif

    .text

/* Exported: sets the thread's last error and returns cudaErrorNotSupported (error.c). */
#define RUNTIME_FUNCTION(versions, symbol)                                                         \
    .weak symbol; .type symbol, %function; symbol: GO_TO(runtime_function_missing); .size symbol, . - symbol;
#include "gpumemtrace/cuda/runtime_functions.def"

    .section .note.GNU-stack, "", %progbits
