/* SPDX-License-Identifier: MIT */
/*
 * Runs of the model beside the recording. For each run, finds how much room the run has, where it
 * ends, and which requests that failed in the recording it would have served.
 */
#pragma once

#include "whatif.h"

/* A request that a device's runs get, and the bytes that the process holds outside the pool. */
struct run_request {
    const struct cursor *at;
    const struct allocator_request *request;
    uint64_t outside_bytes;
};

static inline bool run_goes_on(const struct whatif_run *run)
{
    return run->failure.at.index == INDEX_NONE;
}

/* Serves a recorded allocation in each run that has not ended. `handles` is the row of the
 * allocated tensor, or NULL if the allocation failed in the recording. */
int runs_alloc(struct whatif *whatif, struct whatif_device *device,
               const struct run_request *request, uint32_t *handles);

/* Takes into account what the process holds outside the pool, where no request of the pool follows:
 * before a block outside the pool ends, and at the end of the trace. */
void runs_hold(struct whatif *whatif, const struct whatif_device *device, const struct cursor *at,
               uint64_t outside_bytes);

/* Empties the cache of each run, because driver calls show that the program called
 * torch.cuda.empty_cache(). Does nothing if a refusal made PyTorch free memory. */
int runs_empty_cache(struct whatif *whatif, struct whatif_device *device, struct err *err);

/* Learns about PyTorch's own limit from an event. The limit allows as much as the pool holds
 * after the event. If PyTorch refused a request without asking the driver, the limit does not allow
 * the segment that the request needed. */
void runs_note_limit(struct whatif_device *device, const struct event *event);
