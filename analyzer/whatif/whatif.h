/* SPDX-License-Identifier: MIT */
/*
 * One pass over a trace's events, through the allocator as it was recorded and through others
 * beside it: under another setting, on another card. It must not know who asks, nor how it is
 * shown.
 *
 *     event ──► recorded ──► must equal the recording, or nothing below counts
 *         └───► run 1, run 2 …            a driver that has what the card has left for the pool:
 *
 *     room = card - context and other processes - what this process holds outside the pool
 *
 * Memory holds what is live and what is cached, never the events. What the process asks of the
 * driver outside the pool is taken as it was; so is what the program asks of the pool, also after a
 * failure that it might not have seen: then a run's figures are "at least".
 */
#ifndef GPUMEMTRACE_ANALYZER_WHATIF_WHATIF_H
#define GPUMEMTRACE_ANALYZER_WHATIF_WHATIF_H

#include "analyzer/load/pool_limits.h"
#include "analyzer/replay/history/observer.h"
#include "analyzer/replay/private_pools.h"
#include "requested.h"
#include "recorded.h"
#include "settings.h"

/* What to replay beside the recording. */
struct whatif_ask {
    const char *change;     /* settings_change; NULL: the run's own settings */
    uint64_t total_bytes;   /* of the card; 0: as it was; ALLOCATOR_UNLIMITED: no limit */
    double fraction;        /* of the card that the pool may hold; 0: as the settings say */
    uint64_t pool_bytes;    /* that the pool may hold; 0: no limit of its own */
    bool serves_all;        /* what failed in the recording must be served, too */
    uint64_t context_bytes; /* of the context and other processes; 0: as the card's answers tell */
    /* One run for all limits in whole granules from here up to total_bytes or pool_bytes: forks.h. 0: for
     * that one. The first ask decides for all. */
    uint64_t least_bytes;
    bool is_spare; /* a place for another run of such a limit */
    int device;    /* with least_bytes: where it counts */
};

/* Where a run ends before the recording does. */
struct whatif_failure {
    struct moment at; /* index INDEX_NONE: it does not */
    uint64_t requested_bytes;
    bool is_outside; /* not of the pool: something else asked the driver for more than was left */
};

struct whatif_run {
    struct allocator allocator;
    struct whatif_ask ask;
    uint64_t fails_below_bytes; /* the highest limit below this run's that failed */
    uint64_t
        copied_index; /* of the event at which it became a copy of another; INDEX_NONE: never */
    double fraction;  /* that was asked for or set; see whatif_fraction */
    struct whatif_failure failure;
    /* Of those in the recording; unknown: the recorded memory fraction decides, and is not reported. */
    uint64_t served_failures_count, same_failures_count, unknown_failures_count;
    uint64_t last_same_index;    /* event of the last of the same; INDEX_NONE: there is none */
    uint64_t live_at_peak_bytes; /* when most was reserved */
    uint64_t peak_held_bytes;    /* of the process, but for the context: the pool and outside it */
    uint64_t peak_needed_bytes;  /* the same of what was live in the pool */
};

struct whatif_device {
    int device;
    bool has_pool; /* PyTorch's */
    struct recorded recorded;
    struct whatif_run *runs; /* one for each ask */
    bool card_known;         /* the card reported what it had left */
    uint64_t total_bytes;    /* its size; 0: not known */
    /* Of the context and of other processes: by the last answer, and the most. A context grows where a
     * kernel is first used, which no event tells: later answers do. */
    uint64_t context_bytes, peak_context_bytes;
    uint64_t sample_index;             /* of that answer */
    uint64_t whole_bytes, small_bytes; /* of the driver: in granules of their own, in shared ones */
    uint64_t peak_driver_bytes;
    uint64_t refused_bytes; /* outside.h */
    /* What PyTorch said that the pool may hold, when it first refused more; bytes 0: nothing, or not
     * always the same, or the pool held more before a call set it. */
    struct pool_limit reported;
    bool reported_differ;
    /* PyTorch refused what the driver was not asked for: a fraction lets the pool hold less than that.
     * ALLOCATOR_UNLIMITED: it did not. */
    uint64_t fraction_below_bytes;
    bool was_refused, has_emptied; /* since the last tensor */
    bool no_run_goes_on;           /* each has failed, and whatif.ends_with_runs */
    uint64_t fails_bytes[2]; /* the highest limit that failed, of a card and of a pool: forks.h */
};

/* Of each tensor: the device's slot, the recorded block, and that of each run. */
enum { HANDLE_DEVICE, HANDLE_RECORDED, HANDLE_RUNS };

struct whatif {
    struct whatif_device *devices[DEVICE_SLOTS]; /* NULL: no block of PyTorch's pool lies there */
    struct driver_blocks driver_blocks;
    struct pair_map tensors; /* by address: which row of handles */
    struct slots tensor_slots;
    uint32_t *handles; /* rows of HANDLE_… */
    size_t handle_capacity;
    const struct whatif_ask *asks;
    size_t ask_count;
    struct whatif_settings own; /* of the recording */
    bool follows;               /* goes on where the recording differs: struct recorded */
    bool ends_with_runs;        /* the recording is not looked at any more where no run goes on */
    struct private_pools graphs;
    struct requested requested; /* reported before a tensor whose block lies there */
};

/* For a replay of the trace. The asks must outlive it. -1: *err says why; it is to be released. */
int whatif_init(struct whatif *whatif, const struct trace *trace, const struct whatif_ask *asks,
                size_t ask_count, struct err *err);
struct observer whatif_observer(struct whatif *whatif);
/* The memory fraction of a run: the ask's, the setting's, or what PyTorch told; 0: none is known. */
double whatif_fraction(const struct whatif_device *device, const struct whatif_run *run);
/* No event says more of it: all runs have ended, or the recording differs from the model. */
bool whatif_device_is_over(const struct whatif_device *device);
/* Loads the trace and replays it. -1: *err says why, and nothing is to be released. */
int whatif_replay(struct whatif *whatif, const char *path, const struct whatif_ask *asks,
                  size_t ask_count, struct err *err);
/* The same of the recording alone, which is followed where the model differs. The observer sees each
 * event after the model has. */
int whatif_follow(struct whatif *whatif, const char *path, const struct observer *observer,
                  struct err *err);
void whatif_release(struct whatif *whatif);

#endif
