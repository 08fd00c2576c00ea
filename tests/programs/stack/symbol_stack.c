/* SPDX-License-Identifier: MIT */
// link:
/*
 * Prints its own stack for the tests of symbol names; without optimization also a line "nothing …",
 * which one test needs. Lines with calls have a comment, by which the tests find them.
 */
#include "gpumemtrace/compiler.h"
#include "print_stack.h"

static volatile int keep; /* used after calls, to prevent tail calls */

static GMT_NOINLINE void take_stack(void)
{
    PRINT_STACK(); /* in take_stack */
    keep++;
}

/* Called once, so that it is compiled into its caller. */
static inline void inlined_layer(void)
{
    take_stack(); /* in inlined_layer */
    keep++;
}

static GMT_NOINLINE void outer_layer(void)
{
    inlined_layer(); /* in outer_layer */
    keep++;
}

int main(void)
{
#ifndef __OPTIMIZE__
    puts("nothing is inlined in this build");
#endif
    outer_layer(); /* in main */
    return keep == 3 ? 0 : 1;
}
