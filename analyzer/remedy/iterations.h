/* SPDX-License-Identifier: MIT */
/*
 * An iteration is the forward and backward of one batch. It begins when a batch or a forward
 * allocates after a backward or an optimizer. A part is the phase of an iteration that an
 * allocation belongs to.
 */
#pragma once

#include "analyzer/analysis/category.h"

enum part { PART_OTHER, PART_INIT, PART_DATA, PART_FORWARD, PART_BACKWARD, PART_OPTIMIZER };

/* Returns the part of the iteration that a path of the history belongs to. The innermost phase that
 * has a rule decides. */
enum part part_of_path(const struct history *history, uint32_t path);
/* Returns the part of the iteration that a block belongs to. Returns PART_OTHER for a library's
 * workspace, which outlives every part. */
enum part part_of_block(const struct categories *categories, uint32_t path, uint32_t stack_id);

/* A zeroed struct is ready for use. */
struct iterations {
    uint32_t number;    /* number of the current iteration, from 0 */
    enum part part;     /* part of the last allocation */
    bool has_optimized; /* an optimizer allocated in the current iteration */
    bool has_forward;   /* forward allocated in the current iteration */
};

/* Adds an allocation of that part. Returns true if the allocation begins an iteration. */
bool iterations_allocate(struct iterations *iterations, enum part part);
