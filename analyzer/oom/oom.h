/* SPDX-License-Identifier: MIT */
/*
 * Why an allocation failed, as far as the trace can tell, with the numbers that say so. It must not
 * know how this is shown.
 *
 * The evidence is taken at the failure, for its own device: what was asked for, what the card had
 * left (cuMemGetInfo of the same call, else the nearest before), what this process held, what of
 * that lay idle in pools, what others held.
 *
 *   fragmented  the memory was there but not in one piece: what lay idle in the process's own pools
 *               would have done, or it and the free bytes of the card together, if at least a
 *               twentieth of what the process holds lay idle; of a pool that did not ask the
 *               driver, its own idle bytes would have done
 *   limit       the card had enough free and yet the driver refused, or a framework's own limit
 *               refused without asking the driver
 *   others      what other processes hold (used on the card - this process - its context) would
 *               have made room
 *   exhausted   this process had filled the card, but for crumbs
 *   unknown     not an out-of-memory error, or not of memory that was asked of the card by size
 *               (the host's, another process's, a module's), or the trace has no cuMemGetInfo to
 *               judge by
 */
#ifndef GPUMEMTRACE_ANALYZER_OOM_OOM_H
#define GPUMEMTRACE_ANALYZER_OOM_OOM_H

#include "analyzer/replay/history/history.h"

enum oom_verdict {
    OOM_UNKNOWN,
    OOM_EXHAUSTED,
    OOM_FRAGMENTED,
    OOM_OTHERS,
    OOM_LIMIT,
};

struct oom {
    const struct failure *failure;
    enum oom_verdict verdict;
    int32_t result;              /* what the API returned */
    uint64_t asked_bytes;        /* 0 of a module, a limit or a context: no call names it */
    enum memory_account account; /* that would have had it */

    bool device_known; /* a cuMemGetInfo stands behind the next two */
    uint64_t device_free_bytes, device_total_bytes;
    bool context_known; /* the trace's measure of context and other processes at the start */
    uint64_t context_bytes;
    bool others_known;
    uint64_t others_bytes; /* used on the card beyond this process's memory, context and modules */

    uint32_t stock; /* that the rest speaks of: the failing one's layer, or the leading one */
    uint64_t live_bytes;
    bool reserved_known;
    uint64_t reserved_bytes, idle_bytes, largest_hole_bytes;
    uint64_t driver_live_bytes; /* device memory that this process got from the driver */
};

/* Whether a number of bytes was asked of the card itself. */
bool oom_is_of_card(const struct oom *oom);

const char *oom_verdict_name(enum oom_verdict verdict);
/* Text of a CUDA result number, "out of memory"; NULL: not one of the common ones. */
const char *oom_result_name(int32_t result);

int oom_explain(struct oom *oom, const struct history *history, const struct failure *failure,
                struct err *err);

#endif
