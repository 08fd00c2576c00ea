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
    uint32_t backward;  /* call to backward that allocated last */
    uint32_t recorded;  /* last such call that autograd records */
};

/* A birth. A backward that autograd records (create_graph) ends no iteration, because a later one
 * goes through what it computes. */
struct iteration_birth {
    enum part part;
    uint32_t backward; /* number of its call to backward; 0: none */
    bool is_recorded;  /* growth_is_recorded() */
};

/* Adds an allocation. Returns true if the allocation begins an iteration. */
bool iterations_allocate(struct iterations *iterations, const struct iteration_birth *birth);
