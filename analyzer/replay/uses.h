/* SPDX-License-Identifier: MIT */
/*
 * Notes for each block how it is used, as far as the events show it. The place of its birth does
 * not tell whether backward needs it, or whether an optimizer trains it.
 *
 *     birth_round, end_round  number of backwards before its birth and its end
 *     recurred                its call stack allocated again while the block was live
 *     sizes                   of tensors made in init, and of tensors that outlived backward, with
 *                             the highest number of these that were live at once
 *     stacks                  of call stacks: how often and when they allocated, whether backward
 *                             left a gradient for one of their tensors, and whether all their
 *                             tensors have half the size of one made in init
 */
#pragma once

#include "analyzer/replay/history/cursor.h"
#include "analyzer/replay/phase/spans.h"

/* A zeroed struct is empty and ready for use. */
struct uses {
    struct pair_map of_backward; /* by size: live tensors that backward made */
};

void uses_release(struct uses *uses);

/* Called for a block that begins. *birth is the number of the birth among those of its stack. */
int uses_begin(struct uses *uses, const struct cursor *at, struct block *block, uint32_t *birth);
/* Called for a block that ends, when its `outlived` is known. */
int uses_end(struct uses *uses, const struct cursor *at, struct block *block, uint32_t birth);
/* Called after the last event: the tensors that are live then have outlived their backward. */
int uses_finish(const struct uses *uses, const struct cursor *at);
