/* SPDX-License-Identifier: MIT */
/*
 * Address ranges of driver memory, both plain and mapped memory, and the ranges among them that a
 * framework pool uses as segments.
 *
 * Plain ranges are kept only from the first tensor on, because nothing reads them earlier.
 */
#pragma once

#include "analyzer/util/high_water.h"
#include "analyzer/util/range_map.h"
#include "analyzer/replay/history/cursor.h"

struct driver_range {
    uint64_t address, size_bytes; /* size_bytes 0: the range is gone */
    uint32_t block;
    uint32_t object;  /* number of the VMM object mapped there; HISTORY_NONE: plain memory */
    uint32_t segment; /* HISTORY_NONE: no tensor seen in it yet */
    uint64_t begin_index;
};

/*
 * A cache of recently used ranges. It helps because tensors are allocated in the same segments
 * again and again. Each piece of RECENT_PIECE_BYTES of address space has one slot. Pieces whose
 * numbers are equal modulo RECENT_RANGES share a slot. The slot holds the range in which the last
 * tensor was found.
 */
enum { RECENT_RANGES = 4096, RECENT_PIECE_BYTES = 2 << 20 };

struct driver_ranges {
    uint32_t recent[RECENT_RANGES];
    struct range_map map; /* numbers of the items */
    struct driver_range *items;
    size_t capacity;
    struct slots slots;
    bool has_tensors;
    bool is_unasked;               /* nobody needs segments, so none are kept */
    struct pool_reserve *reserves; /* bytes of each pool, by account */
    size_t reserve_count, reserve_capacity;
};

void driver_ranges_init(struct driver_ranges *ranges);
void driver_ranges_release(struct driver_ranges *ranges);

int driver_ranges_add_plain(struct driver_ranges *ranges, const struct cursor *at, uint32_t block);
/* Adds a mapping of a VMM object, with address and size of the current event. */
int driver_ranges_add_mapping(struct driver_ranges *ranges, const struct cursor *at, uint32_t block,
                              uint32_t object);
int driver_ranges_remove(struct driver_ranges *ranges, const struct cursor *at, uint64_t address);
int driver_ranges_remove_plain(struct driver_ranges *ranges, const struct cursor *at,
                               const struct block *block);

/* Makes segments of the ranges that contain the tensor. */
int driver_ranges_add_tensor(struct driver_ranges *ranges, const struct cursor *at,
                             const struct block *tensor);
/*
 * Finds the first segment that overlaps the range from *address to `end`, and moves *address to the
 * end of that segment. HISTORY_NONE: there are no more segments.
 */
uint32_t driver_ranges_next_segment(const struct driver_ranges *ranges, uint64_t *address,
                                    uint64_t end);
/* Sets each pool's peak_reserved_bytes. Called at the end of the replay. */
void driver_ranges_finish(const struct driver_ranges *ranges, struct history *history);

/* The VMM object that is mapped at the address; HISTORY_NONE: none. */
uint32_t driver_ranges_object_at(const struct driver_ranges *ranges, uint64_t address);
/*
 * The VMM object of the first mapping that starts at the address or less than size_bytes after it.
 * Sets *start to the start of the mapping. HISTORY_NONE: no mapping starts in this range, or plain
 * memory comes first.
 */
uint32_t driver_ranges_object_within(const struct driver_ranges *ranges, uint64_t address,
                                     uint64_t size_bytes, uint64_t *start);
