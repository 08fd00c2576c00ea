/* SPDX-License-Identifier: MIT */
/*
 * Explains why an allocation failed, as far as the trace can tell, with the numbers behind it.
 *
 * The evidence is taken at the failure, for the device of the failed call. It is the requested
 * bytes, the free bytes of the card, the bytes that this process held, how many of these bytes lay
 * idle in pools and could be reached, and the bytes that other processes held. The free bytes come
 * from cuMemGetInfo in the failed call, or from the nearest sample before it. The first rule that
 * applies decides:
 *
 *   unknown     the error is not out of memory; or the memory is not requested from the card by
 *               size (memory of the host, of another process or of a module, or managed memory)
 *   exhausted   the request is larger than the card
 *   fragmented  a pool refused without asking the driver, though its idle bytes would have been
 *               enough
 *   limit       a pool refused without asking the driver; or the card had enough free when it
 *               refused (unknown if that sample of the card is older than the call)
 *   exhausted   a launch of a CUDA graph was refused; no call reports how much it needs
 *   cached      idle bytes in the process's pools would have been enough, but could not be
 *               reached: the call was not the pool's, or a hole that fits belongs to another
 *               stream, or whole segments were idle and not given back, as happens in a capture
 *   fragmented  the memory was there, but not in one piece: idle bytes would have been enough,
 *               alone or with the free bytes of the card. In a pool, also in one of the driver's,
 *               the idle bytes must be at least a twentieth of the bytes that the pool holds. Idle
 *               bytes that need the free ones must be at least a hundredth of the request
 *   others      other processes' bytes, by NVML, would have made room. If NVML told nothing: the
 *               bytes in use beyond this process and its context would have made room, and are more
 *               than a context grows by
 *   outside     this process's bytes outside of the framework (of libraries, of its own calls)
 *               would have made room for the framework, and are at least half of the bytes that
 *               the framework has handed out
 *   unknown     unexplained bytes would have made room, but they may be the context, managed
 *               memory, or not attributed by NVML, or the trace lost events
 *   limit       this process had filled its slice of a card (MIG)
 *   exhausted   this process had filled the card
 *   unknown     the trace has no cuMemGetInfo sample to judge by
 *
 * Free memory in segments of a CUDA graph's private pool is not idle: the graph holds it.
 */
#pragma once

#include "analyzer/analysis/card.h"
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

/* The rule that decided. Several rules may lead to the same verdict. */
enum oom_reason {
    OOM_REASON_NONE,
    OOM_NO_LACK,           /* unknown: another error */
    OOM_NOT_OF_CARD,       /* unknown: another kind of memory */
    OOM_NO_ANSWER,         /* unknown: no cuMemGetInfo sample */
    OOM_OLD_ANSWER,        /* unknown: the sample is older than the call */
    OOM_CONTEXT_OR_OTHERS, /* unknown: may be the context or other processes */
    OOM_MANAGED_OR_OTHERS, /* unknown: managed memory may be on the card or on the host */
    OOM_NOT_LISTED,        /* unknown: NVML attributes the bytes to no process */
    OOM_BY_NVML,           /* others: NVML reported their bytes to the program */
    OOM_LOST_EVENTS,       /* unknown: lost events may have been this process's */
    OOM_MORE_THAN_CARD,    /* exhausted */
    OOM_MORE_THAN_GIVEN,   /* exhausted: too large even if this process held nothing */
    OOM_BY_LAUNCH,         /* exhausted: a CUDA graph, whose launch names no size */
    OOM_BY_FRAMEWORK,      /* limit, fragmented: the pool did not ask the driver */
    OOM_BY_DRIVER,         /* limit: the card had enough free */
    OOM_BY_SLICE,          /* limit: the card is a MIG slice */
    OOM_ANOTHER_CALLER,    /* cached: the call was not the pool's */
    OOM_ANOTHER_STREAM,    /* cached: the hole belongs to another stream */
    OOM_NOT_GIVEN_BACK,    /* cached: whole segments were not given back */
};

struct oom {
    const struct failure *failure;
    enum oom_verdict verdict;
    enum oom_reason reason;
    int32_t result;           /* what the API returned */
    uint64_t requested_bytes; /* 0 for a module, a limit or a context: their calls name no size */
    /* The smallest request that the driver refused for this allocation; at least
     * requested_bytes. */
    uint64_t driver_requested_bytes;
    enum account_kind account_kind; /* the kind of the account that the memory would have been in */
    bool asks_for_pool;             /* a framework's pool made the request */
    bool has_pool;                  /* a framework has a pool on the device */
    /* the program asked a driver's pool, and no framework has a pool */
    bool asks_drivers_pool;

    bool device_known;      /* a cuMemGetInfo sample gives the next three fields */
    bool driver_is_unknown; /* the trace is imported and does not record the driver's calls */
    bool is_fresh;          /* the sample was taken in one of the calls that failed */
    uint64_t device_free_bytes, device_total_bytes;
    bool is_slice; /* the card is a MIG slice */
    /* the trace measured the context and other processes together at its start */
    bool context_known;
    uint64_t context_bytes;
    bool others_known;
    /* Bytes in use on the card by processes that NVML lists. Without NVML: bytes in use beyond this
     * process's memory, context and modules. */
    uint64_t others_bytes;
    uint64_t outside_bytes; /* bytes of this process outside of frameworks */
    uint64_t managed_bytes; /* managed memory, which is on the card or on the host */
    bool lost_events;

    uint32_t account; /* the account of the values below: the failing pool's, or the leading one */
    uint64_t live_bytes;
    bool reserved_known;
    uint64_t reserved_bytes, idle_bytes; /* idle_bytes excludes the bytes that graphs hold */
    /* false: the pool is a driver's pool, which reports only its total */
    bool hole_known;
    uint64_t largest_hole_bytes;
    uint64_t graph_bytes; /* free bytes in graphs' private pools */
    size_t graph_pools_count;
    uint64_t other_stream_bytes;      /* part of idle_bytes in segments of other streams */
    uint64_t other_stream_hole_bytes; /* the largest hole among other_stream_bytes */
    uint64_t whole_segments_bytes;    /* part of idle_bytes in segments without a live block */
    uint64_t asked_idle_bytes;        /* idle in the driver's stream-ordered pool that was asked */
    uint64_t driver_live_bytes;       /* device memory that the driver gave this process */
    struct card_limit limit;
    struct oom_sum sum;
};

/* True if the request was for a number of bytes of the card's own memory. */
bool oom_is_of_card(const struct oom *oom);

/* Pools that keep idle memory which they could give back to the driver. */
enum oom_idle {
    OOM_IDLE_FRAMEWORK, /* the framework's pool */
    OOM_IDLE_MEMPOOLS,  /* the driver's stream-ordered pools */
    OOM_IDLE_GRAPHS,    /* the device's pool for CUDA graphs */
    OOM_IDLE_OWNERS
};
/* True if the request would have fitted, had the program not raised the limit. */
bool oom_limit_makes_room(const struct oom *oom);
/* True if the context may have grown for the limit by bytes that nothing else explains. */
bool oom_limit_may_hold(const struct oom *oom);
/* The idle bytes of such a pool; 0 if the failed call took from this pool itself. */
uint64_t oom_unreachable_bytes(const struct oom *oom, enum oom_idle owner);

const char *oom_verdict_name(enum oom_verdict verdict);
/* Returns the text of a CUDA result number, for example "out of memory". Returns NULL if the number
 * is not a common one. */
const char *oom_result_name(int32_t result);

/* Adds the verdict to the numbers. */
void oom_judge(struct oom *oom);
/* Fills the numbers and calls oom_judge. */
int oom_explain(struct oom *oom, const struct history *history, const struct failure *failure,
                struct err *err);
