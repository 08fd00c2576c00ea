/* SPDX-License-Identifier: MIT */
/*
 * The runs of the model beside the recording: what each has room for, where it ends, and what it would
 * have served. It must not know events but for the allocation that they are asked.
 */
#ifndef GPUMEMTRACE_ANALYZER_WHATIF_RUNS_H
#define GPUMEMTRACE_ANALYZER_WHATIF_RUNS_H

#include "forks.h"

static inline bool run_goes_on(const struct whatif_run *run)
{
    return run->failure.at.index == INDEX_NONE;
}

/* An allocation of the recording, in each run that goes on; handles: of its tensor, NULL if it failed. */
int runs_alloc(struct whatif *whatif, struct whatif_device *device,
               const struct fork_request *request, uint32_t *handles);

/* torch.cuda.empty_cache(), as its calls of the driver tell; not what a refusal made PyTorch do. */
int runs_empty_cache(struct whatif *whatif, struct whatif_device *device, struct err *err);

/* What the recorded pool holds after the event, or was refused by PyTorch's own limit. */
void runs_note_limit(struct whatif_device *device, const struct event *event);

#endif
