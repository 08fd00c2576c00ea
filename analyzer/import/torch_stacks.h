/* SPDX-License-Identifier: MIT */
/* Lists of frames of a snapshot as stacks of a trace, each once. It must not know what stands around them. */
#ifndef GPUMEMTRACE_ANALYZER_IMPORT_TORCH_STACKS_H
#define GPUMEMTRACE_ANALYZER_IMPORT_TORCH_STACKS_H

#include "draft.h"
#include "pickle_read.h"

struct torch_place;

struct torch_stacks {
    struct draft *draft;
    uint32_t *stacks;           /* by number of the list, and 1 */
    struct torch_place *places; /* by number of the dictionary */
    uint64_t cut_count;         /* stacks of more frames than a trace holds */
};

int torch_stacks_init(struct torch_stacks *stacks, struct draft *draft,
                      const struct pickle_values *values, struct err *err);
void torch_stacks_release(struct torch_stacks *stacks);

/* NULL, or a list without frames: *stack_id is 0. */
int torch_stacks_find(struct torch_stacks *stacks, const struct pickle_value *frames,
                      uint32_t *stack_id, struct err *err);

#endif
