/* SPDX-License-Identifier: MIT */
/* The host's memory; see host.h. */
#include "host.h"

#include "analyzer/analysis/frag.h"
#include "analyzer/analysis/stretches.h"
#include "analyzer/replay/history/live_walk.h"

/* A cgroup that used all but 1/16 of its limit may have reached the limit after the sample. */
enum { NEAR_LIMIT_DIVISOR = 16 };

static uint64_t higher(uint64_t a, uint64_t b)
{
    if (a == HOST_UNKNOWN || b == HOST_UNKNOWN)
        return a == HOST_UNKNOWN ? b : a;
    return a > b ? a : b;
}

struct host_use host_use_of(const struct trace *trace)
{
    struct host_use use = {.sample_count = trace->host_sample_count,
                           .rss_peak_bytes = HOST_UNKNOWN,
                           .cgroup_peak_bytes = HOST_UNKNOWN};

    for (size_t i = 0; i < trace->host_sample_count; i++) {
        use.last = trace->host_samples[i];
        use.rss_peak_bytes =
            higher(use.rss_peak_bytes, higher(use.last.rss_bytes, use.last.rss_peak_bytes));
        use.cgroup_peak_bytes = higher(use.cgroup_peak_bytes,
                                       higher(use.last.cgroup_bytes, use.last.cgroup_peak_bytes));
    }
    return use;
}

bool host_use_is_near_limit(const struct host_use *use)
{
    const uint64_t limit_bytes = use->last.cgroup_limit_bytes;

    return use->sample_count && limit_bytes != HOST_UNKNOWN &&
           use->last.cgroup_bytes != HOST_UNKNOWN &&
           use->last.cgroup_bytes >= limit_bytes - limit_bytes / NEAR_LIMIT_DIVISOR;
}

int host_pinned_taken(uint64_t *bytes, const struct history *history, const struct device_use *use,
                      uint64_t index, struct err *err)
{
    struct live_walk walk = live_walk_begin(history, use->accounts[ACCOUNT_host], index);
    struct stretches pieces = {0};
    const struct block *block;
    int status = -1;

    *bytes = 0;
    while ((block = live_walk_next(&walk))) {
        const uint64_t start = block->address & ~(FRAG_GRANULE_BYTES - 1);
        const uint64_t whole = block->address - start + block->size_bytes + FRAG_GRANULE_BYTES - 1;

        if (block->memory != MEMORY_PINNED)
            *bytes += block->size_bytes;
        else if (stretches_add(&pieces, start, whole & ~(FRAG_GRANULE_BYTES - 1), true, err))
            goto out;
    }
    if (stretches_sort(&pieces, err))
        goto out;
    stretches_join(&pieces);
    for (size_t i = 0; i < pieces.count; i++)
        *bytes += pieces.items[i].end - pieces.items[i].start;
    status = 0;
out:
    stretches_release(&pieces);
    return status;
}
