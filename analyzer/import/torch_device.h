/* SPDX-License-Identifier: MIT */
/*
 * One device as a snapshot of PyTorch has it: what its allocator held at the end, and what happened before, as far as
 * the history goes. The snapshot alone says what was there before the first step: torch_past finds it.
 *
 *     before the first step ── steps, oldest first ──► segments and blocks of the end
 *
 * It must not know pickles.
 */
#ifndef GPUMEMTRACE_ANALYZER_IMPORT_TORCH_DEVICE_H
#define GPUMEMTRACE_ANALYZER_IMPORT_TORCH_DEVICE_H

#include <stdbool.h>

#include "draft.h"

/* What a step may be, as snapshots name it; other steps change no memory. */
#define TORCH_ACTIONS(row)                                                                         \
    row(ALLOC, "alloc") row(FREE_REQUESTED, "free_requested")                                      \
        row(FREE_COMPLETED, "free_completed") row(SEGMENT_ALLOC, "segment_alloc")                  \
            row(SEGMENT_FREE, "segment_free") row(SEGMENT_MAP, "segment_map")                      \
                row(SEGMENT_UNMAP, "segment_unmap") row(OOM, "oom")

enum torch_action {
#define ACTION(name, text) TORCH_##name,
    TORCH_ACTIONS(ACTION)
#undef ACTION
        TORCH_ACTION_COUNT
};

#define TORCH_NONE UINT32_MAX
#define TORCH_DIVISIONS 16 /* as many as roundup_power2_divisions has */

struct torch_step {
    uint64_t address;    /* of an oom: the bytes that the card had left */
    uint64_t size_bytes; /* as the program asked */
    uint64_t stream, time_us;
    uint32_t stack_id;
    uint32_t block; /* of an alloc: what it gave is there at the end; TORCH_NONE: no more */
    enum torch_action action;
};

/* When a block or segment came: in a step, before the first one, or after the last. */
enum torch_birth { TORCH_IN_STEP, TORCH_BEFORE, TORCH_AFTER };

struct torch_block {
    uint64_t address, size_bytes, requested_bytes; /* requested 0: not known */
    uint64_t stream;
    uint32_t stack_id;
    enum torch_birth birth;
};

struct torch_segment {
    uint64_t address, size_bytes, stream;
    uint32_t stack_id;
    bool is_mapped; /* expandable: several mappings */
    enum torch_birth birth;
};

struct torch_device {
    int number;
    struct torch_step *steps;
    size_t step_count, step_capacity;
    /* Those of the end first; torch_past adds those of before that are gone at the end. */
    struct torch_block *blocks;
    size_t block_count, block_capacity;
    struct torch_segment *segments;
    size_t segment_count, segment_capacity;
    uint64_t max_split_bytes; /* larger blocks are handed out whole */
    uint64_t divisions
        [TORCH_DIVISIONS]; /* of what lies between powers of two, from 1 MiB on; 0, 1: none */
    bool has_past;         /* blocks or segments were there before the first step */
    bool has_frees;        /* of blocks, in a step */
    /* The step that ends a block: a free that is asked for; where the program left those out, a free's end. */
    enum torch_action frees_on;
    uint64_t unfreed_count; /* blocks whose address a step gives again, without a free between */
};

/* PyTorch's allocator counts in these. */
static inline uint64_t torch_rounded(uint64_t bytes)
{
    return (bytes + 511) / 512 * 512;
}

/* The same, where the program set roundup_power2_divisions. */
uint64_t torch_device_rounded(const struct torch_device *device, uint64_t bytes);

void torch_device_release(struct torch_device *device);

/* Finds what was there before the first step, and which steps gave what is there at the end. */
int torch_past_find(struct torch_device *device, struct err *err);

/* Writes all devices as events, in the order of their times. */
int torch_events_write(const struct torch_device *devices, size_t count, struct draft *draft,
                       struct err *err);

#endif
