/* SPDX-License-Identifier: MIT */
/*
 * What a stand-in exports: each name of its list as a weak entry that returns 0, which every one of
 * these libraries means by success. A C file that defines the function takes its place at link time.
 * In assembly, because an entry has to suit whatever its caller passes: it looks at no argument.
 */
#if defined(__x86_64__)
#define RETURN_0 xorl %eax, %eax; ret
#elif defined(__aarch64__)
#define RETURN_0 mov x0, xzr; ret
#else
#error "say here how this processor returns a number"
#endif

    .text

#define SYMBOL(symbol)                                                                             \
    .globl symbol; .weak symbol; .type symbol, %function; symbol: RETURN_0; .size symbol, . - symbol;
#include STANDIN_SYMBOLS

    .section .note.GNU-stack, "", %progbits
