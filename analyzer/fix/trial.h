/* SPDX-License-Identifier: MIT */
/*
 * One dry run of a program, and what its traces say. It must not know why it is made, nor what was
 * changed for it.
 *
 *   fits        it ended with status 0; or was aborted after it had left with 0, in its teardown
 *   no memory   an allocation failed, and it ended with another status; or nothing was allocated after
 *               the failure, whatever the status says: a program may catch the error, print it and exit
 *   failed      another status, no allocation failed, and it does not print that memory was out
 *   no GPU      it made no CUDA call
 *   stopped     by a signal that this process got
 */
#ifndef GPUMEMTRACE_ANALYZER_FIX_TRIAL_H
#define GPUMEMTRACE_ANALYZER_FIX_TRIAL_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/sim_spec.h"

enum trial_end { TRIAL_FITS, TRIAL_NO_MEMORY, TRIAL_FAILED, TRIAL_NO_GPU, TRIAL_STOPPED };

struct trial {
    enum trial_end end;
    int status, signal; /* as run_child has them */
    bool was_oom_kill;  /* for the host's memory */
    uint64_t
        failures_count; /* allocations that failed for want of the card's memory, caught or not */
    uint64_t duration_ns;
    char log[PATH_MAX]; /* what it printed */
    char trace
        [PATH_MAX]; /* that decided: of the process that died, or of the least spare; "": none */
    size_t trace_count;
    int64_t rank_count; /* of the job that its ranks were told of; 0: none */

    /* Of the device with the least spare, in that trace. */
    bool is_known;
    int device;
    uint64_t room_bytes; /* the card, without what others hold */
    uint64_t peak_bytes; /* of the card, with the context */
    uint64_t spare_bytes;
    uint64_t live_bytes; /* the most that was live in the leading layer */
};

/* "fits", "no_memory". */
const char *trial_end_key(enum trial_end end);

struct trial_ask {
    const char *path, *folder; /* the program; where its traces go */
    char **argv;
    char *const *variables; /* "NAME=VALUE", NULL ends them */
    const struct sim_spec *card;
    int number; /* in the names of its files */
};

/* By a signal; a shell says so by its status. */
static inline bool trial_was_killed(const struct trial *trial)
{
    return trial->signal || trial->status > 128;
}

/* -1: it could not be started, or its traces could not be read. */
int trial_run(struct trial *trial, const struct trial_ask *ask, struct err *err);

#endif
