/* SPDX-License-Identifier: MIT */
/*
 * One dry run of a program, and the verdict of its traces.
 *
 *   fits        the program ended with status 0, or its teardown aborted after it had left with 0
 *   no memory   an allocation failed, and the program ended with another status or allocated
 *               nothing afterwards. In the second case the status does not matter, because a
 *               program may catch the error, print it and exit
 *   failed      the program ended with another status, no allocation failed, and its output does
 *               not say "out of memory"
 *   no GPU      the program made no CUDA call
 *   stopped     by a signal that this process received
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/sim_spec.h"

enum trial_end { TRIAL_FITS, TRIAL_NO_MEMORY, TRIAL_FAILED, TRIAL_NO_GPU, TRIAL_STOPPED };

struct trial {
    enum trial_end end;
    int status, signal; /* copied from run_child */
    bool was_oom_kill;  /* the kernel killed the program for lack of host memory */
    /* allocations that failed for lack of the card's memory, caught or not */
    uint64_t failures_count;
    uint64_t duration_ns;
    char log[PATH_MAX]; /* path of the program's output */
    /* the trace that decides: of the process that died, or the one with the least spare memory; "":
     * there is none */
    char trace[PATH_MAX];
    size_t trace_count;
    int64_t rank_count; /* ranks of the job, as the ranks report it; 0: unknown */

    /* The next fields are about the device with the least spare memory in `trace`. */
    bool is_known;
    int device;
    uint64_t room_bytes; /* bytes of the card, without the bytes of other processes */
    uint64_t peak_bytes; /* peak of the card, with the context */
    uint64_t spare_bytes;
    uint64_t live_bytes; /* highest live bytes in the leading layer */
};

/* Returns the key of an end, for example "fits" or "no_memory". */
const char *trial_end_key(enum trial_end end);

struct trial_ask {
    const char *path, *folder; /* the program, and the folder for its traces */
    char **argv;
    char *const *variables; /* "NAME=VALUE" each; NULL ends the list */
    const struct sim_spec *card;
    int number; /* number of the run, used in the names of its files */
};

/* True if a signal ended the run. A shell reports a signal by a status above 128. */
static inline bool trial_was_killed(const struct trial *trial)
{
    return trial->signal || trial->status > 128;
}

/* Makes the run. Returns -1 if the program could not be started or its traces could not be read. */
int trial_run(struct trial *trial, const struct trial_ask *ask, struct err *err);
