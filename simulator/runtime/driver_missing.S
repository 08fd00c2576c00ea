/* SPDX-License-Identifier: MIT */
/*
 * The entry of the driver's table for a function that the driver lacks. It is written in assembly
 * because it must work for every prototype: it reads no parameter.
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
