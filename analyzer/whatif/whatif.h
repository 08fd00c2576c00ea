/* SPDX-License-Identifier: MIT */
/*
 * Makes one pass over a trace's events. Each event goes to the model of the recorded allocator, and
 * to further models (runs), each of which has another setting or another card.
 *
 *     event ──► recorded ──► must equal the recording; if not, the runs mean nothing
 *         └───► run 1, run 2 …      each has a driver with this much room for the pool:
 *
 *     room = card - context and other processes - memory of this process outside the pool
 *
 * Memory use grows with the number of live and cached blocks, not with the number of events. The
 * program's requests, to the pool and outside it, are taken as recorded. A request that failed in
 * the recording may succeed in a run. The program might then have requested more than it did, so
 * the figures of that run are lower bounds ("at least").
 */
#pragma once

#include "analyzer/load/pool_limits.h"
#include "analyzer/replay/history/observer.h"
#include "analyzer/replay/private_pools.h"
#include "requested.h"
#include "recorded.h"
#include "settings.h"

/* A run to replay beside the recording. */
struct whatif_ask {
    const char *change;     /* text for settings_change; NULL: the recorded run's settings */
    uint64_t total_bytes;   /* of the card; 0: as recorded; ALLOCATOR_UNLIMITED: no limit */
    double fraction;        /* share of the card that the pool may hold; 0: as in the settings */
    bool serves_all;        /* requests that failed in the recording must be served as well */
    uint64_t context_bytes; /* context and other processes; 0: as the card's answers show */
};

/* The event at which a run ends before the recording does. */
struct whatif_failure {
    struct moment at; /* index INDEX_NONE: the run goes on to the end */
    uint64_t requested_bytes;
    /* not the pool's request failed, but memory outside the pool needed more than was left */
    bool is_outside;
};

struct whatif_run {
    struct allocator allocator;
    struct whatif_ask ask;
    double fraction; /* from the ask or the settings; see whatif_fraction */
    struct whatif_failure failure;
    /* Number of requests that failed in the recording, by their result in this run. The result is
     * unknown if it depends on the recorded memory fraction and that was not reported. */
    uint64_t served_failures_count, same_failures_count, unknown_failures_count;
    uint64_t last_same_index;    /* event of the last of same_failures_count; INDEX_NONE: none */
    uint64_t live_at_peak_bytes; /* at the peak of reserved bytes */
    uint64_t peak_held_bytes; /* of the process, in the pool and outside it, without its context */
};

struct whatif_device {
    int device;
    bool has_pool; /* PyTorch has a pool on the device */
    struct recorded recorded;
    struct whatif_run *runs; /* one for each ask */
    bool card_known;         /* the card has reported its free memory */
    uint64_t total_bytes;    /* size of the card; 0: not known */
    /* Bytes of the context and of other processes, by the card's last answer and by the highest. A
     * context grows when a kernel is first used. No event shows that, but later answers do. */
    uint64_t context_bytes, peak_context_bytes;
    uint64_t sample_index; /* event of the card's last answer */
    /* memory from the driver: allocations of whole granules, and small ones that share granules */
    uint64_t whole_bytes, small_bytes;
    uint64_t peak_driver_bytes;
    uint64_t refused_bytes; /* outside.h */
    /* The limit of the pool that PyTorch reported when it first refused a request. Its bytes are 0
     * if none was reported, if reports differ, or if the pool held more before it was set. */
    struct pool_limit reported;
    bool reported_differ;
    /* A fraction must keep the pool below this size, because PyTorch refused a request without
     * asking the driver. ALLOCATOR_UNLIMITED: that did not happen. */
    uint64_t fraction_below_bytes;
    bool was_refused, has_emptied; /* since the last tensor */
    bool no_run_goes_on;           /* all runs have failed, and whatif.ends_with_runs is set */
};

/* The columns of a tensor's row: its device's slot, its recorded block, its block in each run. */
enum { HANDLE_DEVICE, HANDLE_RECORDED, HANDLE_RUNS };

struct whatif {
    struct whatif_device *devices[DEVICE_SLOTS]; /* NULL: nothing of that device was seen */
    struct driver_blocks driver_blocks;
    struct pair_map tensors; /* from a tensor's address to its row of handles */
    struct slots tensor_slots;
    uint32_t *handles; /* rows of HANDLE_… */
    size_t handle_capacity;
    const struct whatif_ask *asks;
    size_t ask_count;
    struct whatif_settings own; /* as recorded */
    bool ends_with_runs;        /* stops looking at the recording once no run goes on */
    struct private_pools graphs;
    struct requested requested; /* the last report; the event of its tensor comes later */
};

/* Prepares a replay of the trace. There is at least one ask, and the asks must outlive *whatif. -1:
 * *err says why; *whatif must be released even so. */
int whatif_init(struct whatif *whatif, const struct trace *trace, const struct whatif_ask *asks,
                size_t ask_count, struct err *err);
struct observer whatif_observer(struct whatif *whatif);
/* Returns the memory fraction of a run: from the ask, from the settings, or as PyTorch reported it.
 * 0: none is known. */
double whatif_fraction(const struct whatif_device *device, const struct whatif_run *run);
/* Returns whether no later event can change the result: all runs have ended, or the recording
 * differs from the model. */
bool whatif_device_is_over(const struct whatif_device *device);
/* Replays the trace, whose events are open. -1: *err says why, and nothing is to be released. */
int whatif_replay(struct whatif *whatif, const struct trace *trace, const struct whatif_ask *asks,
                  size_t ask_count, struct err *err);
void whatif_release(struct whatif *whatif);
