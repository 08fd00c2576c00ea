/* SPDX-License-Identifier: MIT */
/* Moments at which most blocks of a call stack are freed; see sweeps.h. */
#include "sweeps.h"

#include "analyzer/thresholds/thresholds.h"

enum { AGES_MAX = 64 }; /* bits of sweeps.ages */

static unsigned count_bits(uint64_t bits)
{
    unsigned count = 0;
    for (; bits; bits &= bits - 1)
        count++;
    return count;
}

void sweeps_free(struct sweeps *sweeps, const struct swept *freed)
{
    if (sweeps->moment != freed->moment || !sweeps->ages) {
        sweeps->moment = freed->moment;
        sweeps->before_bytes = freed->live_bytes;
        sweeps->bytes = sweeps->ages = 0;
    }
    sweeps->bytes += freed->size_bytes;
    sweeps->ages |= UINT64_C(1) << freed->step % AGES_MAX;
    if (sweeps->bytes * 2 < sweeps->before_bytes || count_bits(sweeps->ages) < AGES_FEWEST)
        return;
    sweeps->swept_bytes = sweeps->bytes;
    sweeps->swept_place = freed->place;
}

void sweeps_end(struct sweeps *sweeps, uint64_t end, bool fell)
{
    if (sweeps->swept_bytes && fell) {
        occurrences_add(&sweeps->at, end);
        if (sweeps->swept_bytes > sweeps->most_bytes)
            sweeps->most_bytes = sweeps->swept_bytes;
        if (!sweeps->place_votes)
            sweeps->place = sweeps->swept_place;
        sweeps->place_votes += sweeps->place == sweeps->swept_place ? 1 : UINT32_MAX;
    }
    sweeps->swept_bytes = 0;
}

uint64_t sweeps_pace(const struct sweeps *sweeps, uint64_t steps_before, uint64_t ends_count)
{
    return occurrences_pace(&sweeps->at, sweeps->at.first_at + steps_before,
                            sweeps->at.last_at + 1 == ends_count);
}

bool sweeps_are_over(const struct sweeps *sweeps, uint64_t ends_count)
{
    const struct occurrences *at = &sweeps->at;
    uint64_t longest = at->first_at + 1;
    longest = at->longest > longest ? at->longest : longest;
    longest = at->last > longest ? at->last : longest;
    return ends_count - at->last_at > SWEEPS_OVER_TIMES * longest;
}

bool sweeps_are_anywhere(const struct sweeps *sweeps)
{
    return sweeps->at.count >= 2 && UINT64_C(3) * sweeps->place_votes <= sweeps->at.count;
}
