/* SPDX-License-Identifier: MIT */
/*
 * Decides whether a line of a training program runs an evaluation in which autograd keeps tensors
 * that no backward will use.
 */
#pragma once

#include "at_moment.h"

/*
 * True if three things hold. The line at `location` has made `calls` calls in an iteration that has
 * no backward so far. It allocated in no earlier iteration. It calls code that other lines called
 * in earlier iterations.
 *
 * This code is the program's own. If the line calls no code of the program and is not in a module
 * of the program, the code may also be a torch.nn.Sequential or a library's model. The calls of
 * such a model are counted by the live blocks that other lines allocated between the calls:
 *
 *     batch  line line line  batch  line line line  batch  line      3 calls
 */
bool evaluation_is(const struct lives *lives, const struct at_moment *at, uint32_t location,
                   uint64_t calls);
