/* SPDX-License-Identifier: MIT */
/*
 * The estimated life of memory as one list of allocations and frees, in order: what a run would
 * do, written down. Everything asked of an estimate (peak, categories, phases, the allocator's
 * segments) is a replay of it. It must not know models.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_SCHEDULE_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/analysis/category.h"
#include "gpumemtrace/err.h"

enum schedule_phase {
    SCHEDULE_init,
    SCHEDULE_data,
    SCHEDULE_forward,
    SCHEDULE_backward,
    SCHEDULE_optimizer,
    SCHEDULE_PHASES
};

const char *schedule_phase_name(enum schedule_phase phase);

#define SCHEDULE_NO_BLOCK 0
#define SCHEDULE_NO_LAYER (-1)
#define SCHEDULE_EVENTS_MOST (32 << 20)

struct schedule_event {
    uint64_t bytes;
    uint32_t block; /* from 1, in order of allocation */
    int32_t layer;  /* SCHEDULE_NO_LAYER outside of layers */
    uint8_t phase, category;
    bool is_free;
};

struct schedule {
    struct schedule_event *events;
    size_t count, capacity;
    uint32_t blocks;
    uint8_t phase;
    int32_t layer;
    struct err err; /* the first failure; later calls do nothing */
};

void schedule_release(struct schedule *schedule);
/* Where the following events happen. */
void schedule_at(struct schedule *schedule, enum schedule_phase phase, int32_t layer);
/* A new block; SCHEDULE_NO_BLOCK when bytes is 0 (nothing is then allocated). */
uint32_t schedule_alloc(struct schedule *schedule, enum category category, uint64_t bytes);
/* SCHEDULE_NO_BLOCK is allowed. bytes and category are those of the allocation. */
void schedule_free(struct schedule *schedule, enum category category, uint32_t block,
                   uint64_t bytes);

#endif
