/* SPDX-License-Identifier: MIT */
/*
 * Stands in the driver's table for functions that the driver lacks. In assembly, because it must
 * work for any parameters: it reads none.
 */
#if defined(__x86_64__)
#define RETURN(number) mov $(number), %eax; ret
#elif defined(__aarch64__)
#define RETURN(number) mov w0, (number); ret
#else
#error "add how this processor returns an integer"
#endif

    .text

/* Not exported. Returns CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND. */
    .globl driver_function_missing
    .hidden driver_function_missing
    .type driver_function_missing, %function
driver_function_missing:
    RETURN(302)
    .size driver_function_missing, . - driver_function_missing

    .section .note.GNU-stack, "", %progbits
