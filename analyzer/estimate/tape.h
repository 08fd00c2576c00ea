/* SPDX-License-Identifier: MIT */
/*
 * The estimated life of memory as one list of allocations and frees, in order: what a run would
 * do, written down. Everything asked of an estimate (peak, categories, phases, the allocator's
 * segments) is a replay of it. It must not know models.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_TAPE_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_TAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/analysis/category.h"
#include "gpumemtrace/err.h"

enum tape_phase { TAPE_init, TAPE_data, TAPE_forward, TAPE_backward, TAPE_optimizer, TAPE_PHASES };

const char *tape_phase_name(enum tape_phase phase);

#define TAPE_NO_BLOCK 0
#define TAPE_NO_LAYER (-1)
#define TAPE_EVENTS_MOST (32 << 20)

struct tape_event {
    uint64_t bytes;
    uint32_t block; /* from 1, in order of allocation */
    int32_t layer;  /* TAPE_NO_LAYER outside of layers */
    uint8_t phase, category;
    bool is_free;
};

struct tape {
    struct tape_event *events;
    size_t count, capacity;
    uint32_t blocks;
    uint8_t phase;
    int32_t layer;
    struct err err; /* the first failure; later calls do nothing */
};

void tape_release(struct tape *tape);
/* Where the following events happen. */
void tape_at(struct tape *tape, enum tape_phase phase, int32_t layer);
/* A new block; TAPE_NO_BLOCK when bytes is 0 (nothing is then allocated). */
uint32_t tape_alloc(struct tape *tape, enum category category, uint64_t bytes);
/* TAPE_NO_BLOCK is allowed. bytes and category are those of the allocation. */
void tape_free(struct tape *tape, enum category category, uint32_t block, uint64_t bytes);

#endif
