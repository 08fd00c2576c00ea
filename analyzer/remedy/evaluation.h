/* SPDX-License-Identifier: MIT */
/*
 * Decides whether a line of a training program runs an evaluation in which autograd keeps tensors
 * that no backward will use.
 */
#ifndef GPUMEMTRACE_ANALYZER_REMEDY_EVALUATION_H
#define GPUMEMTRACE_ANALYZER_REMEDY_EVALUATION_H

#include "at_moment.h"

/*
 * True if the line at `location` makes `calls` calls in an iteration without a backward so far,
 * allocated in no iteration before, and calls code that other lines called in earlier iterations.
 * This code is the program's own; or, if the line calls none and is not in a module of the program,
 * a torch.nn.Sequential or a library's model. Calls of the latter are counted by the live blocks
 * that other lines allocated between them:
 *
 *     batch  line line line  batch  line line line  batch  line      3 calls
 */
bool evaluation_is(const struct lives *lives, const struct at_moment *at, uint32_t location,
                   uint64_t calls);

#endif
