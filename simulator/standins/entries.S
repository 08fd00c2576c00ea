/* SPDX-License-Identifier: MIT */
/*
 * A stand-in's exports. Each name of its list is a weak entry that returns 0, which means success
 * in all these libraries. A C file that defines the function replaces the entry at link time. It is
 * written in assembly because an entry must work for every prototype: it reads no parameter.
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
