/* SPDX-License-Identifier: MIT */
/* The sentences about limits: one of the framework that refused the request, and one of the context
 * that the program raised, for which the context took memory. */
#include "told.h"

#include <math.h>

#include "analyzer/render/units.h"

/* Names by the numbers of enum cudaLimit. */
static const char *limit_name(unsigned number)
{
    static const char *const names[] = {"cudaLimitStackSize", "cudaLimitPrintfFifoSize",
                                        "cudaLimitMallocHeapSize", "cudaLimitDevRuntimeSyncDepth",
                                        "cudaLimitDevRuntimePendingLaunchCount"};
    return number < sizeof names / sizeof *names ? names[number] : "a limit";
}

int page_oom_say_limit_holder(struct opening *opening, const struct study *study,
                              const struct oom *oom, struct err *err)
{
    const char *name = limit_name(oom->limit.number);
    char label[BLAME_TEXT_BYTES];
    const bool is_measured = oom_limit_makes_room(oom);
    if (!is_measured && !oom_limit_may_hold(oom))
        return 0;
    const int is_known = blame_alone(label, study->symbols, oom->limit.stack_id, err);
    if (is_known < 0)
        return -1;
    return page_say(opening, VERDICT_who, "The context %s %s for %s, which %s set.",
                    is_measured ? "took" : "may hold",
                    is_measured ? BYTES_TEXT(oom->limit.bytes) : "this memory", name,
                    is_known ? label : "the program");
}

/* Says which limit of the framework would have let it serve the request, if the card had as much
 * free. */
static int say_own_limit_remedy(struct opening *opening, const struct oom *oom)
{
    const uint64_t more_bytes = oom->driver_requested_bytes;
    if (!oom->reserved_known || !oom->device_known || !oom->device_total_bytes ||
        more_bytes > oom->device_free_bytes)
        return 0;
    const uint64_t need_bytes = oom->reserved_bytes + more_bytes;
    /* The share is rounded up, because a lower one would refuse the request again. */
    const double share = ceil(100.0 * (double)need_bytes / (double)oom->device_total_bytes) / 100;
    return page_say(opening, VERDICT_do,
                    "Raise the limit to at least %s, %.2f of the card, which had that much free.",
                    BYTES_TEXT(need_bytes), share);
}

int page_oom_say_limit_remedy(struct opening *opening, const struct oom *oom)
{
    if (oom->verdict == OOM_LIMIT && oom->reason == OOM_BY_FRAMEWORK)
        return say_own_limit_remedy(opening, oom);
    if (!oom_limit_makes_room(oom))
        return 0;
    return page_say(opening, VERDICT_do,
                    "A lower limit, or the old one set again (cudaDeviceSetLimit) after the "
                    "kernels that need it, gives up to %s back.",
                    BYTES_TEXT(oom->limit.bytes));
}
