/* SPDX-License-Identifier: MIT */
/*
 * Finds why reserved memory lies idle at a moment, and which line requested it.
 *
 *   stranded   At least half of it lies beside live blocks, so it cannot go back to the driver.
 *   streams    More than half of it is in segments of other streams than the stream with the most
 *              live bytes. A framework's pool uses free memory only for the stream that it was
 *              allocated on.
 *   outgrown   More than half of the rest is in whole segments that are smaller than a segment
 *              that the pool requested later: later requests were too large for them. They may
 *              have been full then, so the reserved bytes must also exceed the highest live bytes
 *              so far by more than half of the rest, unless most of the rest is younger segments.
 *   cached     The rest: whole segments that could go back to the driver.
 *
 * The first cause that applies counts. Only a framework's pool has segments, so the driver's memory
 * is stranded or cached.
 */
#pragma once

#include "frag.h"
#include "analyzer/blame/blame.h"

enum idle_cause { IDLE_STRANDED, IDLE_BY_STREAMS, IDLE_OUTGROWN, IDLE_CACHED };

struct idle {
    struct frag frag;
    enum idle_cause cause;
    uint64_t bytes;       /* idle with this cause */
    size_t streams_count; /* IDLE_BY_STREAMS: the number of these other streams */
    /* The line that requested most of these segments, and their idle bytes; "" if the cause is
     * IDLE_STRANDED (pins.h names the lines that pin memory), or if no line is known. */
    char label[BLAME_TEXT_BYTES];
    uint64_t label_bytes;
};

/* request_bytes: the size of an allocation that failed at this moment; 0: none failed. */
int idle_at(struct idle *idle, const struct history *history, struct symbols *symbols,
            uint32_t account, uint64_t index, uint64_t request_bytes, struct err *err);

/* True if idle memory needs no action. card_bytes is 0 if the card's size is unknown; a share of
 * the reserved bytes counts then. */
bool idle_is_little(const struct frag *frag, uint64_t card_bytes);

/*
 * True if the pool reserved much more than it ever handed out at once: the highest reserved bytes
 * exceed the highest live bytes by a quarter, and by more than idle_is_little allows. In a loop the
 * pool's cache is as large as the peak of the live bytes, so a cache alone is no excess. Always
 * false if the card's size is unknown (0), because nothing says then whether the excess matters.
 */
bool idle_is_excess(const struct account *account, uint64_t card_bytes);

/* Memory that a pool reserved to the end, although its second half of allocations needed none of
 * it. */
struct lasting {
    uint64_t idle_bytes;             /* 0: there is none, or too little to matter */
    uint64_t before_bytes, at_bytes; /* the highest live bytes, before and in the second half */
};
/* Before the second half, at least four times as much was live. In a loop each step needs the same
 * memory, so nothing is lasting there. */
struct lasting idle_lasting(const struct history *history, uint32_t account, uint64_t card_bytes);
