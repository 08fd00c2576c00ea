/* SPDX-License-Identifier: MIT */
/*
 * Explains why an allocation failed, as far as the trace can tell, with the numbers behind it.
 *
 * The evidence is taken at the failure, for its own device: the requested bytes, the free bytes of
 * the card (cuMemGetInfo of the same call, else the nearest before), the bytes that this process
 * held, how many of them lay idle in pools and could be reached, and the bytes that others held.
 * The first rule that applies decides:
 *
 *   unknown     the error is not out of memory; or the memory is not requested from the card by
 *               size (host, managed, another process's, a module's)
 *   exhausted   the request is larger than the card
 *   fragmented  a pool refused without asking the driver, though its idle bytes would have been
 *               enough
 *   limit       a pool refused without asking the driver; or the card had enough free when it
 *               refused (unknown if that sample of the card is older than the call)
 *   cached      idle bytes in the process's pools would have been enough, but could not be
 *               reached: the call was not the pool's, or a hole that fits belongs to another
 *               stream, or whole segments were idle and not given back, as during a capture
 *   fragmented  the memory was there, but not in one piece: idle bytes would have been enough,
 *               alone or with the free bytes of the card. In a pool (also one of the driver's)
 *               they must be at least a twentieth of what the pool holds
 *   others      other processes' bytes, by NVML, would have made room. Where NVML told nothing:
 *               the bytes in use beyond this process and its context would have, and are more than
 *               a context grows by
 *   outside     this process's bytes outside of the framework (libraries, its own calls) would
 *               have made room for the framework, and are at least half of what it has handed out
 *   unknown     unexplained bytes would have made room, but they may be the context, managed
 *               memory, or not attributed by NVML, or the trace lost events
 *   limit       this process had filled its slice of a card (MIG)
 *   exhausted   this process had filled the card
 *   unknown     the trace has no cuMemGetInfo to judge by
 *
 * Free memory in segments of a CUDA graph's private pool is not idle: the graph holds it.
 */
#ifndef GPUMEMTRACE_ANALYZER_OOM_OOM_H
#define GPUMEMTRACE_ANALYZER_OOM_OOM_H

#include "analyzer/replay/history/history.h"
#include "oom_sum.h"

enum oom_verdict {
    OOM_UNKNOWN,
    OOM_EXHAUSTED,
    OOM_FRAGMENTED,
    OOM_CACHED,
    OOM_OUTSIDE,
    OOM_OTHERS,
    OOM_LIMIT,
};

/* The rule that decided, where several rules lead to the same verdict. */
enum oom_reason {
    OOM_REASON_NONE,
    OOM_NO_LACK,           /* unknown: another error */
    OOM_NOT_OF_CARD,       /* unknown: another kind of memory */
    OOM_NO_ANSWER,         /* unknown: no cuMemGetInfo sample */
    OOM_OLD_ANSWER,        /* unknown: the sample is older than the call */
    OOM_CONTEXT_OR_OTHERS, /* unknown: may be either */
    OOM_MANAGED_OR_OTHERS, /* unknown: managed memory may be on the card or on the host */
    OOM_NOT_LISTED,        /* unknown: not attributed by NVML */
    OOM_BY_NVML,           /* others: as NVML reported to the program */
    OOM_LOST_EVENTS,       /* unknown: lost events may have been this process's */
    OOM_MORE_THAN_CARD,    /* exhausted */
    OOM_BY_FRAMEWORK,      /* limit, fragmented: the pool did not ask the driver */
    OOM_BY_DRIVER,         /* limit: the card had enough free */
    OOM_BY_SLICE,          /* limit: the card is a MIG slice */
    OOM_ANOTHER_CALLER,    /* cached: the call was not the pool's */
    OOM_ANOTHER_STREAM,    /* cached */
    OOM_NOT_GIVEN_BACK,    /* cached: whole segments */
};

struct oom {
    const struct failure *failure;
    enum oom_verdict verdict;
    enum oom_reason reason;
    int32_t result;           /* what the API returned */
    uint64_t requested_bytes; /* 0 for a module, a limit or a context: their calls name no size */
    /* The smallest request that the driver refused for it; at least requested_bytes. */
    uint64_t driver_requested_bytes;
    enum account_kind account_kind; /* of the account that the memory would have been in */
    bool asks_for_pool;             /* a framework's pool made the request */
    bool has_pool;                  /* a framework has a pool on the device */
    bool asks_drivers_pool;         /* a driver's pool was asked, and no framework has one */

    bool device_known;      /* a cuMemGetInfo sample gives the next three */
    bool driver_is_unknown; /* imported trace: it does not record the driver's calls */
    bool is_fresh;          /* sampled in one of the calls that failed */
    uint64_t device_free_bytes, device_total_bytes;
    bool is_slice;      /* the card is a MIG slice */
    bool context_known; /* the trace measured context and other processes together at its start */
    uint64_t context_bytes;
    bool others_known;
    /* In use on the card by processes that NVML lists; without NVML: beyond this process's memory,
     * context and modules. */
    uint64_t others_bytes;
    uint64_t outside_bytes; /* this process's, outside of frameworks */
    uint64_t managed_bytes; /* on the card or on the host */
    bool lost_events;

    uint32_t account; /* of the values below: the failing pool, else the leading account */
    uint64_t live_bytes;
    bool reserved_known;
    uint64_t reserved_bytes, idle_bytes; /* idle: without what graphs hold */
    bool hole_known;                     /* false: a driver's pool, which reports only its total */
    uint64_t largest_hole_bytes;
    uint64_t graph_bytes; /* free in graphs' private pools */
    size_t graph_pools_count;
    uint64_t other_stream_bytes;      /* part of idle_bytes in segments of other streams */
    uint64_t other_stream_hole_bytes; /* the largest hole among other_stream_bytes */
    uint64_t whole_segments_bytes;    /* part of idle_bytes in segments without a live block */
    uint64_t driver_live_bytes;       /* device memory that the driver gave this process */
    struct oom_sum sum;
};

/* True if the request was for a number of bytes of the card's own memory. */
bool oom_is_of_card(const struct oom *oom);

const char *oom_verdict_name(enum oom_verdict verdict);
/* Text of a CUDA result number, as "out of memory"; NULL if it is not a common one. */
const char *oom_result_name(int32_t result);

/* oom_gather fills the numbers; oom_judge adds the verdict. */
int oom_gather(struct oom *oom, const struct history *history, const struct failure *failure,
               struct err *err);
void oom_judge(struct oom *oom);
/* oom_gather and oom_judge. */
int oom_explain(struct oom *oom, const struct history *history, const struct failure *failure,
                struct err *err);

#endif
