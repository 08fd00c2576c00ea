/* SPDX-License-Identifier: MIT */
/*
 * What the driver's table calls where the driver has no such function. In assembly, because it has
 * to suit whatever its caller passes: it looks at no argument.
 */
#if defined(__x86_64__)
#define RETURN(number) mov $(number), %eax; ret
#elif defined(__aarch64__)
#define RETURN(number) mov w0, (number); ret
#else
#error "say here how this processor returns a number"
#endif

    .text

/* Not exported: CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND for a function that the driver lacks. */
    .globl driver_function_missing
    .hidden driver_function_missing
    .type driver_function_missing, %function
driver_function_missing:
    RETURN(302)
    .size driver_function_missing, . - driver_function_missing

    .section .note.GNU-stack, "", %progbits
