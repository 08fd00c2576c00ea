/* SPDX-License-Identifier: MIT */
/*
 * The highest moments of each account that are separate: between any two of them the live bytes fell by
 * more than a quarter of the lower one. It watches the replay and keeps ten moments for each account; its keeper
 * lets the history keep what was live then.
 *
 *     100        ▲                        100 and 70 are separate, for 30 lies between them;
 *      70       █ █ ▲     ▲               the 70 beside the peak is not: it fell to 65 only
 *      65      █   █ █   █ █
 *      30     █       ███   █
 */
#ifndef GPUMEMTRACE_ANALYZER_MOMENTS_SUMMITS_H
#define GPUMEMTRACE_ANALYZER_MOMENTS_SUMMITS_H

#include "analyzer/replay/history/observer.h"

enum { SUMMITS_MOST = 10 };

struct summit {
    struct moment at; /* the first one as high as this */
    uint64_t bytes;
    uint32_t path; /* of the block that reached it */
};

struct account_summits {
    struct summit items[SUMMITS_MOST]; /* the highest first; of equal ones the earliest */
    size_t count;
    struct summit now;     /* where the account stands */
    struct summit highest; /* since it began to rise */
    uint64_t lowest_bytes; /* since it began to fall */
    bool is_rising, has_changed;
};

/* Zeroed is empty and ready for use. */
struct summits {
    struct account_summits *accounts; /* by account */
    size_t account_count, account_capacity;
    uint32_t *changed; /* accounts that the current event changed */
    size_t changed_count, changed_capacity;
};

struct observer summits_observer(struct summits *summits);
void summits_release(struct summits *summits);

struct keeper summits_keeper(const struct summits *summits);

/* Of one account; an empty one for an account that never held anything. */
const struct account_summits *summits_of(const struct summits *summits, uint32_t account);

#endif
