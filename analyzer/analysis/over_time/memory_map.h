/* SPDX-License-Identifier: MIT */
/*
 * Collects the data for a memory map at each of a few moments: the segments of frameworks' pools,
 * and the largest blocks of each account. Each moment has its own limit on the number of blocks;
 * blocks beyond the limit are only counted. Watches a replay.
 */
#pragma once

#include "analyzer/replay/history/observer.h"

enum { MAP_SEGMENTS_MOST = 20000 };

struct map_moment {
    uint64_t index; /* event of the moment */
    size_t most;    /* blocks kept per account */
};

/* The blocks of one account at one moment. */
struct map_blocks {
    struct block *items; /* during the replay: a heap with the smallest block at the top */
    size_t count, capacity;
    uint64_t left_out_count, left_out_bytes;
};

/* A segment that existed at the moments from `first` to before `end`. */
struct map_segment {
    uint64_t address, size_bytes;
    uint32_t account;
    bool is_mapped;
    size_t first, end;
};

/* Ready for use if the moments are set and all other fields are zeroed. */
struct memory_map {
    const struct map_moment *moments; /* ascending; must outlive the map */
    size_t moment_count;
    size_t next;                  /* the first moment at or after the current event */
    struct map_blocks **accounts; /* by account and moment; NULL: no block at any moment */
    size_t account_count, account_capacity;
    struct map_segment *segments;
    size_t segment_count, segment_capacity;
};

struct observer memory_map_observer(struct memory_map *map);
void memory_map_release(struct memory_map *map);

/* The account's blocks at the moment of that number. NULL: the account had no block. */
const struct map_blocks *memory_map_at(const struct memory_map *map, uint32_t account,
                                       size_t moment);
/* All kept blocks of the account, by address. A block that lived at several moments is listed once.
 * The caller frees *blocks. */
int memory_map_blocks(const struct memory_map *map, uint32_t account, struct block **blocks,
                      size_t *count, struct err *err);
