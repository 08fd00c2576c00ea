/* SPDX-License-Identifier: MIT */
/*
 * Which line of a training program evaluates and lets autograd keep what no backward will ask for. It
 * must not know bytes.
 */
#ifndef GPUMEMTRACE_ANALYZER_REMEDY_EVALUATION_H
#define GPUMEMTRACE_ANALYZER_REMEDY_EVALUATION_H

#include "lives.h"

/*
 * The line at `location` makes `calls` calls in a round that no backward has ended yet, allocated in no
 * round before, and calls code of the program, at `callee`, that other lines called in rounds before,
 * which had a backward. lives: as of the failure.
 */
bool evaluation_is(const struct lives *lives, const struct places *places, uint32_t location,
                   uint32_t callee, uint64_t calls);

#endif
