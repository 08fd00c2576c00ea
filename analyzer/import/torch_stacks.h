/* SPDX-License-Identifier: MIT */
/* Turns the lists of frames of a snapshot into stacks of the trace, each list once. */
#pragma once

#include "draft.h"
#include "pickle_read.h"

struct torch_place;

struct torch_stacks {
    struct draft *draft;
    uint32_t *stacks;           /* stack id + 1, by number of the list */
    struct torch_place *places; /* by number of the frame's dictionary */
    uint64_t cut_count;         /* stacks with more frames than a trace holds */
};

int torch_stacks_init(struct torch_stacks *stacks, struct draft *draft,
                      const struct pickle_values *values, struct err *err);
void torch_stacks_release(struct torch_stacks *stacks);

/* *stack_id is 0 for NULL and for a list without frames. */
int torch_stacks_find(struct torch_stacks *stacks, const struct pickle_value *frames,
                      uint32_t *stack_id, struct err *err);
