/* SPDX-License-Identifier: MIT */
/*
 * Rounds: forward and backward of one batch. A round begins where a batch is made or forward goes on
 * after a backward or an optimizer. And the part of a round that an allocation belongs to. It must
 * not know blocks.
 */
#ifndef GPUMEMTRACE_ANALYZER_REMEDY_ROUNDS_H
#define GPUMEMTRACE_ANALYZER_REMEDY_ROUNDS_H

#include "analyzer/analysis/category.h"

enum part { PART_OTHER, PART_INIT, PART_DATA, PART_FORWARD, PART_BACKWARD, PART_OPTIMIZER };

/* Of a path of the history, by the innermost phase that has a rule. */
enum part part_of_path(const struct history *history, uint32_t path);
/* A library's workspace is of none. */
enum part part_of_block(const struct categories *categories, uint32_t path, uint32_t stack_id);

/* Zeroed is ready for use. */
struct rounds {
    uint32_t number;    /* of the current one, from 0 */
    enum part part;     /* of the last allocation */
    bool has_optimized; /* an optimizer allocated in the current round */
};

/* An allocation of that part follows; whether a round begins with it. */
bool rounds_allocate(struct rounds *rounds, enum part part);

#endif
