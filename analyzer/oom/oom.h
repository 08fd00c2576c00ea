/* SPDX-License-Identifier: MIT */
/*
 * Why an allocation failed, as far as the trace can tell, with the numbers that say so. It must not
 * know how this is shown.
 *
 * The evidence is taken at the failure, for its own device: what was asked for, what the card had
 * left (cuMemGetInfo of the same call, else the nearest before), what this process held, what of
 * that lay idle in pools and whether it could be reached, what others held. The first that applies:
 *
 *   unknown     not an out-of-memory error; or not of memory that was asked of the card by size (the
 *               host's, managed, another process's, a module's)
 *   exhausted   more was asked for than the card has
 *   fragmented  a pool refused without asking the driver, though its idle bytes would have done
 *   limit       a pool refused without asking the driver; or the card had enough free when it
 *               refused (unknown, if that answer of the card is older than the call)
 *   cached      what lay idle in the process's pools would have done, and could not be reached: the
 *               call was not the pool's, or a hole that fits belongs to another stream, or whole
 *               segments were idle and not given back, as during a capture
 *   fragmented  the memory was there but not in one piece: what lay idle would have done, alone or
 *               with the free bytes of the card; of a pool, the driver's too, at least a twentieth of
 *               what it holds
 *   others      what other processes hold, as NVML told the program or their traces count, would have
 *               made room; where neither is known: what the card has in use beyond this process and
 *               its context would have, and is more than a context grows by
 *   outside     what this process holds outside of the framework (libraries, its own calls) would
 *               have made room for the framework, and is at least half of what that has handed out
 *   unknown     what is unexplained would have made room, but may be the context, or managed memory,
 *               or of no process that NVML names, or the trace lost events
 *   limit       this process had filled its slice of a card (MIG)
 *   exhausted   this process had filled the card, but for crumbs
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

/* Why a verdict is what it is, where several rules lead to it. */
enum oom_reason {
    OOM_REASON_NONE,
    OOM_NO_LACK,           /* unknown: another error */
    OOM_NOT_OF_CARD,       /* unknown: another kind of memory */
    OOM_NO_ANSWER,         /* unknown: the card said nothing */
    OOM_OLD_ANSWER,        /* unknown: the card said something else before */
    OOM_CONTEXT_OR_OTHERS, /* unknown: nobody says which of the two */
    OOM_MANAGED_OR_OTHERS, /* unknown: where managed memory lies is not known */
    OOM_NOT_LISTED,        /* unknown: of no process that NVML names */
    OOM_BY_NVML,           /* others: as it told the program */
    OOM_BY_TRACES,         /* others: as their traces say */
    OOM_LOST_EVENTS,       /* unknown: what was not recorded may be this process's */
    OOM_MORE_THAN_CARD,    /* exhausted */
    OOM_BY_FRAMEWORK,      /* limit, fragmented: the driver was not asked */
    OOM_BY_DRIVER,         /* limit: the card had enough */
    OOM_BY_SLICE,          /* limit: of a card that is divided */
    OOM_ANOTHER_CALLER,    /* cached: the call was not the pool's */
    OOM_ANOTHER_STREAM,    /* cached */
    OOM_NOT_GIVEN_BACK,    /* cached: whole segments */
};

struct oom {
    const struct failure *failure;
    enum oom_verdict verdict;
    enum oom_reason reason;
    int32_t result;           /* what the API returned */
    uint64_t requested_bytes; /* 0 of a module, a limit or a context: no call names it */
    /* The least that the driver refused for it; not less than it. */
    uint64_t driver_requested_bytes;
    enum account_kind account_kind; /* that would have had it */
    bool asks_for_pool;             /* a framework's pool asked */
    bool has_pool;                  /* a framework has a pool on the device */
    bool asks_drivers_pool; /* the program asked a pool of the driver's; none is a framework's */

    bool device_known;      /* a cuMemGetInfo stands behind the next three */
    bool driver_is_unknown; /* of an imported trace: nothing tells of its calls */
    bool is_fresh;          /* taken in one of the calls that failed */
    uint64_t device_free_bytes, device_total_bytes;
    bool is_slice;      /* of a card that is divided */
    bool context_known; /* the trace's measure of context and other processes at the start */
    uint64_t context_bytes;
    bool others_known;
    uint64_t others_bytes;  /* used on the card beyond this process's memory, context and modules;
                               with NVML's answer, of processes that it names */
    uint64_t outside_bytes; /* this process's, of no framework */
    uint64_t managed_bytes; /* somewhere */
    bool lost_events;

    uint32_t account; /* that the rest speaks of: the failing one's layer, or the leading one */
    uint64_t live_bytes;
    bool reserved_known;
    uint64_t reserved_bytes, idle_bytes; /* not idle: what graphs hold */
    bool hole_known;                     /* a pool of the driver's tells only how much it holds */
    uint64_t largest_hole_bytes;
    uint64_t graph_bytes;             /* free in graphs' private pools */
    size_t graph_pools_count;         /* how many of these there are */
    uint64_t other_stream_bytes;      /* of idle_bytes: not for the stream that asked */
    uint64_t other_stream_hole_bytes; /* the largest of it */
    uint64_t whole_segments_bytes;    /* of idle_bytes: in segments that hold nothing */
    uint64_t driver_live_bytes;       /* device memory that this process got from the driver */
    struct oom_sum sum;
};

/* Whether a number of bytes was asked of the card itself. */
bool oom_is_of_card(const struct oom *oom);

const char *oom_verdict_name(enum oom_verdict verdict);
/* Text of a CUDA result number, "out of memory"; NULL: not one of the common ones. */
const char *oom_result_name(int32_t result);

/* The numbers; oom_judge adds the verdict. */
int oom_gather(struct oom *oom, const struct history *history, const struct failure *failure,
               struct err *err);
void oom_judge(struct oom *oom);
/* Both. */
int oom_explain(struct oom *oom, const struct history *history, const struct failure *failure,
                struct err *err);

#endif
