/* SPDX-License-Identifier: MIT */
/*
 * One device of a PyTorch snapshot: the memory of its allocator at the end, and the history before
 * that, as far as it was recorded. An entry of the history is a struct torch_step. A snapshot does
 * not list the memory from before the first entry; torch_past computes it.
 *
 *     before the first entry ── entries, oldest first ──► segments and blocks of the end
 */
#pragma once

#include <stdbool.h>

#include "draft.h"

/* The actions of history entries, by their names in snapshots. Other actions change no memory. */
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
#define TORCH_DIVISIONS 16 /* the number of values in roundup_power2_divisions */

struct torch_step {
    uint64_t address;    /* for an oom: the bytes that the card had free */
    uint64_t size_bytes; /* as the program requested */
    uint64_t stream, time_us;
    uint32_t stack_id;
    uint32_t block; /* for an alloc: the block, if it is still there at the end; else TORCH_NONE */
    enum torch_action action;
};

/* When a block or segment appeared: in an entry, before the first one, or after the last. */
enum torch_birth { TORCH_IN_STEP, TORCH_BEFORE, TORCH_AFTER };

struct torch_block {
    uint64_t address, size_bytes, requested_bytes; /* requested_bytes 0: unknown */
    uint64_t stream;
    uint32_t stack_id;
    enum torch_birth birth;
};

struct torch_segment {
    uint64_t address, size_bytes, stream;
    uint32_t stack_id;
    bool is_mapped; /* expandable: consists of several mappings */
    enum torch_birth birth;
};

struct torch_device {
    int number;
    struct torch_step *steps;
    size_t step_count, step_capacity;
    /* The blocks that exist at the end come first; torch_past appends blocks that existed only
     * before. */
    struct torch_block *blocks;
    size_t block_count, block_capacity;
    struct torch_segment *segments;
    size_t segment_count, segment_capacity;
    uint64_t max_split_bytes; /* larger requests get a free block without splitting it */
    uint64_t divisions
        [TORCH_DIVISIONS]; /* of each interval between powers of two, from 1 MiB on; 0, 1: none */
    bool has_past;         /* blocks or segments existed before the first entry */
    bool has_frees;        /* the history has frees of blocks */
    /* The action that ends a block: the request of a free, or the completion of a free if the
     * program did not record requests. */
    enum torch_action frees_on;
    uint64_t unfreed_count; /* blocks whose address is allocated again without a free in between */
};

/* PyTorch's allocator rounds sizes up to multiples of 512. */
static inline uint64_t torch_rounded(uint64_t bytes)
{
    return (bytes + 511) / 512 * 512;
}

/* Rounds a size up as the device's setting roundup_power2_divisions says. */
uint64_t torch_device_rounded(const struct torch_device *device, uint64_t bytes);

void torch_device_release(struct torch_device *device);

/* Finds the blocks and segments from before the first entry, and the alloc entries whose blocks are
 * still there at the end. */
int torch_past_find(struct torch_device *device, struct err *err);

/* Writes all devices as events, ordered by time. */
int torch_events_write(const struct torch_device *devices, size_t count, struct draft *draft,
                       struct err *err);
