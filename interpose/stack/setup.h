/* SPDX-License-Identifier: MIT */
/*
 * Chooses the unwinder and the sources of a recording by the setting GPUMEMTRACE_STACKS.
 */
#pragma once

#include <stdint.h>

/* Loads the unwinder if the setting needs one. Call it before stack_setup and with no lock held,
 * because it opens libraries. */
void stack_load(void);

/* Call it before a trace starts. kind: all, native, none or the name of a source. depth: the
 * largest number of frames to take from the unwinder and from each source. -1: out of memory. */
int stack_setup(const char *kind, uint64_t depth);
