/* SPDX-License-Identifier: MIT */
/*
 * The address ranges of driver memory, plain and mapped, and which of them a framework pool uses as
 * segments. It must not know which events begin and end them.
 *
 * Plain ranges are kept from the first tensor on: until then nobody asks for them.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_DRIVER_RANGES_H
#define GPUMEMTRACE_ANALYZER_REPLAY_DRIVER_RANGES_H

#include "analyzer/util/high_water.h"
#include "analyzer/util/range_map.h"
#include "analyzer/replay/history/cursor.h"

struct driver_range {
    uint64_t address, size_bytes; /* 0: it is gone */
    uint32_t block;
    uint32_t object;  /* number of the VMM object mapped there; HISTORY_NONE: plain memory */
    uint32_t segment; /* HISTORY_NONE: no tensor was seen in it yet */
    uint64_t begin_index;
};

/* Tensors come again and again to the segments of a pool: of each PIECE_BYTES of addresses, up to the
 * size of the table, the range that a tensor was seen in last. */
enum { RECENT_RANGES = 4096, RECENT_PIECE_BYTES = 2 << 20 };

struct driver_ranges {
    uint32_t recent[RECENT_RANGES];
    struct range_map map; /* numbers of the items */
    struct driver_range *items;
    size_t capacity;
    struct slots slots;
    bool has_tensors;
    bool is_unasked;               /* nobody asks for segments */
    struct pool_reserve *reserves; /* what each pool holds, by account; see driver_ranges.c */
    size_t reserve_count, reserve_capacity;
};

void driver_ranges_init(struct driver_ranges *ranges);
void driver_ranges_release(struct driver_ranges *ranges);

int driver_ranges_add_plain(struct driver_ranges *ranges, const struct cursor *at, uint32_t block);
/* A mapping of a VMM object at the address and of the size that the current event tells. */
int driver_ranges_add_mapping(struct driver_ranges *ranges, const struct cursor *at, uint32_t block,
                              uint32_t object);
int driver_ranges_remove(struct driver_ranges *ranges, const struct cursor *at, uint64_t address);
int driver_ranges_remove_plain(struct driver_ranges *ranges, const struct cursor *at,
                               const struct block *block);

/* Makes segments of the ranges that the tensor lies in. */
int driver_ranges_add_tensor(struct driver_ranges *ranges, const struct cursor *at,
                             const struct block *tensor);
/* The first segment with a byte from *address to before end, which *address is then behind; HISTORY_NONE:
 * there is none. */
uint32_t driver_ranges_next_segment(const struct driver_ranges *ranges, uint64_t *address,
                                    uint64_t end);
/* At the end: the most that each pool held. */
void driver_ranges_finish(const struct driver_ranges *ranges, struct history *history);

/* The VMM object that is mapped at the address; HISTORY_NONE: none. */
uint32_t driver_ranges_object_at(const struct driver_ranges *ranges, uint64_t address);
/*
 * The VMM object of the first mapping at or after the address, if it starts within size_bytes of
 * it; *start is then the mapping's. HISTORY_NONE: no mapping starts there, or plain memory does.
 */
uint32_t driver_ranges_object_within(const struct driver_ranges *ranges, uint64_t address,
                                     uint64_t size_bytes, uint64_t *start);

#endif
