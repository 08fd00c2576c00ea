/* SPDX-License-Identifier: MIT */
/*
 * Which line of a training program evaluates and lets autograd keep what no backward will ask for. It
 * must not know bytes.
 */
#ifndef GPUMEMTRACE_ANALYZER_REMEDY_EVALUATION_H
#define GPUMEMTRACE_ANALYZER_REMEDY_EVALUATION_H

#include "at_moment.h"

/*
 * The line at `location` makes `calls` calls in an iteration that no backward has ended yet, allocated in no
 * iteration before, and calls code that other lines called in iterations before, which had a backward: the
 * program's own or, where it is not in a module of the program and calls none, a torch.nn.Sequential or
 * a library's model. Calls of the latter are counted by what else was made between them and still lives:
 *
 *     batch  line line line  batch  line line line  batch  line      3 calls
 */
bool evaluation_is(const struct lives *lives, const struct at_moment *at, uint32_t location,
                   uint64_t calls);

#endif
