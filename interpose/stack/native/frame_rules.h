/* SPDX-License-Identifier: MIT */
/*
 * Reads the rule that leads from a return address to the caller's frame. The compiler has written
 * such rules for unwinders (.eh_frame, DWARF's call frame information). This file handles the plain
 * cases, which cover nearly all code. It keeps no rules.
 *
 *     higher    …             the caller's frame
 *               ret           where this call returns to: one word below the CFA      <- CFA
 *               old rbp       where the rule says, if it was saved
 *     lower     …             this frame                                             <- rsp
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* NONE: the rule is unknown, or is not a plain case. LAST: there is no caller. FROM_SP, FROM_BP:
 * the register that the CFA is relative to. */
enum frame_base { FRAME_NONE, FRAME_LAST, FRAME_FROM_SP, FRAME_FROM_BP };

struct frame_rule {
    uint32_t base : 2;       /* enum frame_base */
    uint32_t cfa_words : 30; /* from the base register up to the CFA, in words of 8 bytes */
    uint32_t bp_words;       /* from the CFA down to the saved rbp; 0: rbp is unchanged */
};

/* Returns the rule for the call that returns to this address. It needs some microseconds, and takes
 * the lock of the loader's list for a moment. Callable from a hook. */
struct frame_rule frame_rules_read(uintptr_t return_address);
