/* SPDX-License-Identifier: MIT */
/*
 * One pass over a trace's events, through the allocator as recorded and, beside it, through others
 * under another setting or on another card.
 *
 *     event ──► recorded ──► must equal the recording, or nothing below counts
 *         └───► run 1, run 2 …            a driver that has what the card has left for the pool:
 *
 *     room = card - context and other processes - what this process holds outside the pool
 *
 * Memory use grows with live and cached blocks, not with events. Requests outside the pool are
 * taken as recorded. So are the program's requests to the pool, even after a failure that the
 * program might not have seen: then a run's figures are lower bounds ("at least").
 */
#ifndef GPUMEMTRACE_ANALYZER_WHATIF_WHATIF_H
#define GPUMEMTRACE_ANALYZER_WHATIF_WHATIF_H

#include "analyzer/load/pool_limits.h"
#include "analyzer/replay/history/observer.h"
#include "analyzer/replay/private_pools.h"
#include "requested.h"
#include "recorded.h"
#include "settings.h"

/* A run to replay beside the recording. */
struct whatif_ask {
    const char *change;     /* settings_change; NULL: the run's own settings */
    uint64_t total_bytes;   /* of the card; 0: as recorded; ALLOCATOR_UNLIMITED: no limit */
    double fraction;        /* of the card that the pool may hold; 0: as in the settings */
    bool serves_all;        /* requests that failed in the recording must be served, too */
    uint64_t context_bytes; /* of the context and other processes; 0: by the card's answers */
};

/* The event at which a run ends before the recording does. */
struct whatif_failure {
    struct moment at; /* index INDEX_NONE: the run goes on to the end */
    uint64_t requested_bytes;
    /* not of the pool: something else requested more from the driver than was left */
    bool is_outside;
};

struct whatif_run {
    struct allocator allocator;
    struct whatif_ask ask;
    double fraction; /* as asked for or set; see whatif_fraction */
    struct whatif_failure failure;
    /* Failures of the recording, by their result in this run. unknown: the recorded memory fraction
     * decides, and is not reported. */
    uint64_t served_failures_count, same_failures_count, unknown_failures_count;
    uint64_t last_same_index;    /* event of the last failure that is the same; INDEX_NONE: none */
    uint64_t live_at_peak_bytes; /* at the peak of reserved bytes */
    uint64_t peak_held_bytes;    /* of the process without its context: the pool and outside it */
};

struct whatif_device {
    int device;
    bool has_pool; /* PyTorch's */
    struct recorded recorded;
    struct whatif_run *runs; /* by ask */
    bool card_known;         /* the card has reported its free memory */
    uint64_t total_bytes;    /* its size; 0: not known */
    /* Bytes of the context and of other processes: by the last answer of the card, and the most. A
     * context grows when a kernel is first used, which no event shows, but later answers do. */
    uint64_t context_bytes, peak_context_bytes;
    uint64_t sample_index; /* of the last answer */
    /* of the driver, in granules of their own and in shared ones */
    uint64_t whole_bytes, small_bytes;
    uint64_t peak_driver_bytes;
    uint64_t refused_bytes; /* outside.h */
    /* The limit of the pool that PyTorch reported when it first refused a request. bytes 0: none
     * was reported, reports differ, or the pool held more before the limit was set. */
    struct pool_limit reported;
    bool reported_differ;
    /* A fraction must keep the pool below this size, because PyTorch refused a request without
     * asking the driver. ALLOCATOR_UNLIMITED: that did not happen. */
    uint64_t fraction_below_bytes;
    bool was_refused, has_emptied; /* since the last tensor */
    bool no_run_goes_on;           /* all have failed, and whatif.ends_with_runs */
};

/* Columns of a tensor's row: the device's slot, the recorded block, the block of each run. */
enum { HANDLE_DEVICE, HANDLE_RECORDED, HANDLE_RUNS };

struct whatif {
    struct whatif_device *devices[DEVICE_SLOTS]; /* NULL: nothing of that device was seen */
    struct driver_blocks driver_blocks;
    struct pair_map tensors; /* by address: row of handles */
    struct slots tensor_slots;
    uint32_t *handles; /* rows of HANDLE_… */
    size_t handle_capacity;
    const struct whatif_ask *asks;
    size_t ask_count;
    struct whatif_settings own; /* as recorded */
    bool ends_with_runs;        /* stops looking at the recording once no run goes on */
    struct private_pools graphs;
    struct requested requested; /* reported before the tensor whose block it is about */
};

/* Prepares a replay of the trace. There is at least one ask, and the asks must outlive *whatif. -1:
 * *err says why; release *whatif all the same. */
int whatif_init(struct whatif *whatif, const struct trace *trace, const struct whatif_ask *asks,
                size_t ask_count, struct err *err);
struct observer whatif_observer(struct whatif *whatif);
/* The memory fraction of a run: the ask's, the setting's, or the one that PyTorch reported; 0: none
 * is known. */
double whatif_fraction(const struct whatif_device *device, const struct whatif_run *run);
/* True if no later event can change the result: all runs have ended, or the recording differs from
 * the model. */
bool whatif_device_is_over(const struct whatif_device *device);
/* Replays the trace, whose events are open. -1: *err says why, and nothing is to be released. */
int whatif_replay(struct whatif *whatif, const struct trace *trace, const struct whatif_ask *asks,
                  size_t ask_count, struct err *err);
void whatif_release(struct whatif *whatif);

#endif
