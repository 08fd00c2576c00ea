/* SPDX-License-Identifier: MIT */
/*
 * What a map of memory shows at each of a few moments: the segments of frameworks' pools, and the largest
 * blocks of each account, as many as the moment deserves; the others are counted. It watches a replay. It
 * must not know how the moments were found, nor categories.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_OVER_TIME_MEMORY_MAP_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_OVER_TIME_MEMORY_MAP_H

#include "analyzer/replay/history/observer.h"

enum { MAP_SEGMENTS_MOST = 20000 };

struct map_moment {
    uint64_t index; /* of its event */
    size_t most;    /* blocks of an account */
};

/* Of one account at one moment. */
struct map_blocks {
    struct block *items; /* while the replay runs a heap: the smallest first */
    size_t count, capacity;
    uint64_t left_out_count, left_out_bytes;
};

/* At the moments from `first` to before `end`. */
struct map_segment {
    uint64_t address, size_bytes;
    uint32_t account;
    bool is_mapped;
    size_t first, end;
};

/* Zeroed but for the moments, it is empty and ready for use. */
struct memory_map {
    const struct map_moment *moments; /* ascending; they outlive the map */
    size_t moment_count;
    size_t next;                  /* the first moment that is not before the current event */
    struct map_blocks **accounts; /* by account, by moment; NULL: it had no block at any */
    size_t account_count, account_capacity;
    struct map_segment *segments;
    size_t segment_count, segment_capacity;
};

struct observer memory_map_observer(struct memory_map *map);
void memory_map_release(struct memory_map *map);

/* NULL: the account had no block then. */
const struct map_blocks *memory_map_at(const struct memory_map *map, uint32_t account,
                                       size_t moment);
/* All blocks of the account, by address, each once however many moments it lived at. The caller frees it. */
int memory_map_blocks(const struct memory_map *map, uint32_t account, struct block **blocks,
                      size_t *count, struct err *err);

#endif
