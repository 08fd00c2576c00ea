/* SPDX-License-Identifier: MIT */
/*
 * Iterations: forward and backward of one batch. An iteration begins where a batch is made or forward goes on
 * after a backward or an optimizer. And the part of an iteration that an allocation belongs to. It must
 * not know blocks.
 */
#ifndef GPUMEMTRACE_ANALYZER_REMEDY_ITERATIONS_H
#define GPUMEMTRACE_ANALYZER_REMEDY_ITERATIONS_H

#include "analyzer/analysis/category.h"

enum part { PART_OTHER, PART_INIT, PART_DATA, PART_FORWARD, PART_BACKWARD, PART_OPTIMIZER };

/* Of a path of the history, by the innermost phase that has a rule. */
enum part part_of_path(const struct history *history, uint32_t path);
/* A library's workspace is of none. */
enum part part_of_block(const struct categories *categories, uint32_t path, uint32_t stack_id);

/* Zeroed is ready for use. */
struct iterations {
    uint32_t number;    /* of the current one, from 0 */
    enum part part;     /* of the last allocation */
    bool has_optimized; /* an optimizer allocated in the current iteration */
};

/* An allocation of that part follows; whether an iteration begins with it. */
bool iterations_allocate(struct iterations *iterations, enum part part);

#endif
