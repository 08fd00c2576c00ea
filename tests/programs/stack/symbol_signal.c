/* SPDX-License-Identifier: MIT */
// link:
/*
 * Prints its stack in the handler of a signal that interrupted a function at its first byte. An
 * unwinder that took this address for a return address would find the preceding function instead.
 */
#include <signal.h>
#include <stdlib.h>

#include "print_stack.h"

void fault(void);
void before_fault(void);

#ifdef __aarch64__
#define UNDEFINED "udf #0"
#else
#define UNDEFINED "ud2"
#endif

__asm__(".text\n"
        ".globl before_fault\n.type before_fault, %function\nbefore_fault:\n"
        ".cfi_startproc\n\tret\n.cfi_endproc\n.size before_fault, .-before_fault\n"
        ".globl fault\n.type fault, %function\nfault:\n"
        ".cfi_startproc\n\t" UNDEFINED "\n\tret\n.cfi_endproc\n.size fault, .-fault\n");

static void handler(int signal)
{
    (void)signal;
    PRINT_STACK();
    fflush(stdout);
    _Exit(0);
}

static void call_fault(void)
{
    fault();
    before_fault();
}

int main(void)
{
    signal(SIGILL, handler);
    call_fault();
    return 1;
}
