/* SPDX-License-Identifier: MIT */
/*
 * How the caller's frame is found from a place in machine code, as the compiler wrote it down for
 * unwinders (.eh_frame: DWARF's call frame information), for the plain cases that nearly all code
 * is. It must not know whose stack it is for, nor remember anything.
 *
 *     higher    …             the caller's frame
 *               ret           where this call returns to: one word below the CFA      <- CFA
 *               old rbp       where the rule says, if it does
 *     lower     …             this frame                                             <- rsp
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_NATIVE_FRAME_RULES_H
#define GPUMEMTRACE_INTERPOSE_STACK_NATIVE_FRAME_RULES_H

#include <stdbool.h>
#include <stdint.h>

/* NONE: not known, or not plain. LAST: there is no caller. Else what the CFA is counted from. */
enum frame_base { FRAME_NONE, FRAME_LAST, FRAME_FROM_SP, FRAME_FROM_BP };

struct frame_rule {
    uint32_t base : 2;       /* enum frame_base */
    uint32_t cfa_words : 30; /* from the base up to the CFA, in 8 bytes */
    uint32_t bp_words;       /* from the CFA down to the caller's rbp; 0: it was not changed */
};

/* Of the call that returns to this address. Takes the loader's list lock for a moment;
 * microseconds. Callable from a hook. */
struct frame_rule frame_rules_read(uintptr_t return_address);

#endif
