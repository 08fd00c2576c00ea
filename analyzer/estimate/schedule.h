/* SPDX-License-Identifier: MIT */
/*
 * The allocations and frees that a run would make, in order. Every figure of an estimate (peak,
 * categories, phases, the allocator's segments) is computed from this list.
 */
#pragma once

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

/* The stream of an allocation. An allocator keeps blocks of different streams apart. */
enum schedule_stream { SCHEDULE_compute, SCHEDULE_gather, SCHEDULE_reduce };

const char *schedule_phase_name(enum schedule_phase phase);

#define SCHEDULE_NO_BLOCK 0
#define SCHEDULE_NO_LAYER (-1)
#define SCHEDULE_EVENTS_MOST (32 << 20)

struct schedule_event {
    uint64_t bytes;
    uint32_t block; /* from 1, in order of allocation */
    int32_t layer;  /* SCHEDULE_NO_LAYER outside layers */
    uint8_t phase, category, stream;
    bool is_free;
};

struct schedule {
    struct schedule_event *events;
    size_t count, capacity;
    uint32_t blocks;
    uint8_t phase, stream;
    int32_t layer;
    struct err err; /* the first failure; later functions do nothing */
};

void schedule_release(struct schedule *schedule);
/* Sets the phase and the layer of the events that follow. */
void schedule_at(struct schedule *schedule, enum schedule_phase phase, int32_t layer);
/* Sets the stream of the allocations that follow. */
void schedule_on(struct schedule *schedule, enum schedule_stream stream);
/* Adds the allocation of a new block. For 0 bytes, adds nothing and returns SCHEDULE_NO_BLOCK. */
uint32_t schedule_alloc(struct schedule *schedule, enum category category, uint64_t bytes);
/* Adds a free. `bytes` and `category` must be those of the allocation. SCHEDULE_NO_BLOCK is allowed
 * and ignored. */
void schedule_free(struct schedule *schedule, enum category category, uint32_t block,
                   uint64_t bytes);
