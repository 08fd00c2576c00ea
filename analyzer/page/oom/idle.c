/* SPDX-License-Identifier: MIT */
/*
 * The sentences about memory that lay idle in pools which the failed call could not take from, and
 * about how the program can give it back to the driver.
 */
#include "told.h"

#include "analyzer/render/units.h"
#include "analyzer/thresholds/thresholds.h"

static const struct {
    const char *where, *remedy;
} owners[] = {
    [OOM_IDLE_FRAMEWORK] = {"a pool that this call could not take from", NULL},
    [OOM_IDLE_MEMPOOLS] =
        {"the driver's stream-ordered pools, which this call could not take from",
         "cudaMemPoolTrimTo before the request, once the streams that freed the memory "
         "are synchronized, or a lower release threshold "
         "(cudaMemPoolAttrReleaseThreshold),"},
    [OOM_IDLE_GRAPHS] = {"the device's graph pool, which keeps the memory of graphs that are gone",
                         "cudaDeviceGraphMemTrim before the request"},
};

/* True if the bytes are a notable part of the request, or had a part in a verdict for which those
 * of all owners count together. */
static bool is_worth_saying(const struct oom *oom, uint64_t bytes)
{
    const uint64_t divisor = oom->verdict == OOM_CACHED
                                 ? (uint64_t)IDLE_TRIFLE_DIVISOR * OOM_IDLE_OWNERS
                                 : IDLE_WORTH_SAYING_DIVISOR;
    return bytes && bytes >= oom->requested_bytes / divisor;
}

void page_oom_add_idle(struct text *out, const char *before, const struct oom *oom)
{
    for (int owner = 0; owner < OOM_IDLE_OWNERS; owner++) {
        const uint64_t bytes = oom_unreachable_bytes(oom, (enum oom_idle)owner);

        if (!is_worth_saying(oom, bytes))
            continue;
        text_addf(out, "%s%s lay idle in %s", before, BYTES_TEXT(bytes), owners[owner].where);
        before = "; ";
    }
}

int page_oom_say_idle(struct opening *opening, const struct oom *oom)
{
    if (oom->verdict != OOM_CACHED || oom->reason != OOM_ANOTHER_CALLER)
        return 0;
    for (int owner = 0; owner < OOM_IDLE_OWNERS; owner++) {
        const uint64_t bytes = oom_unreachable_bytes(oom, (enum oom_idle)owner);

        if (owners[owner].remedy && is_worth_saying(oom, bytes) &&
            page_say(opening, VERDICT_do, "%s gives %s back to the driver.", owners[owner].remedy,
                     BYTES_TEXT(bytes)) < 0)
            return -1;
    }
    return 1;
}
