/* SPDX-License-Identifier: MIT */
/*
 * Prepares the taking of stacks for a recording: which unwinder, which sources, by the setting
 * GPUMEMTRACE_STACKS. It must not know what is recorded.
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_SETUP_H
#define GPUMEMTRACE_INTERPOSE_STACK_SETUP_H

#include <stdint.h>

/* Loads the unwinder if it is wanted. Before stack_setup, with no lock held: it opens libraries. */
void stack_load(void);

/* Before a trace starts. kind: all, native, none or a source's name; depth: most frames of each
 * kind. -1: out of memory. */
int stack_setup(const char *kind, uint64_t depth);

#endif
