/* SPDX-License-Identifier: MIT */
/*
 * Runs of the model beside the recording: how much room each has, where it ends, and which failed
 * requests it would have served.
 */
#ifndef GPUMEMTRACE_ANALYZER_WHATIF_RUNS_H
#define GPUMEMTRACE_ANALYZER_WHATIF_RUNS_H

#include "whatif.h"

/* A request to a device's runs, and the bytes that the process holds outside the pool. */
struct run_request {
    const struct cursor *at;
    const struct allocator_request *request;
    uint64_t outside_bytes;
};

static inline bool run_goes_on(const struct whatif_run *run)
{
    return run->failure.at.index == INDEX_NONE;
}

/* Serves an allocation of the recording in each run that goes on. handles: the row of its tensor;
 * NULL if the allocation failed. */
int runs_alloc(struct whatif *whatif, struct whatif_device *device,
               const struct run_request *request, uint32_t *handles);

/* Empties the cache of each run, because driver calls show that the program called
 * torch.cuda.empty_cache(). Does nothing if a refusal made PyTorch free memory. */
int runs_empty_cache(struct whatif *whatif, struct whatif_device *device, struct err *err);

/* Learns about PyTorch's own limit from an event: what the recorded pool holds after it, or was
 * refused. */
void runs_note_limit(struct whatif_device *device, const struct event *event);

#endif
