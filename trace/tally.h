/* SPDX-License-Identifier: MIT */
/*
 * Puts events in order for the line at exit: they reach the writer thread by thread, and live
 * memory must be counted in order of seq. Events wait for an earlier one whose call has not
 * returned, but at most TALLY_WAITING_MAX of them. It must not know what events mean: live.h does.
 */
#ifndef GPUMEMTRACE_TRACE_TALLY_H
#define GPUMEMTRACE_TRACE_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "batch.h"
#include "live.h"

#define TALLY_WAITING_MAX 65536

struct tally {
    struct live live;
    struct live_event *waiting; /* ascending seq */
    size_t waiting_count, waiting_limit;
    uint64_t next_seq;
};

void tally_release(struct tally *tally);
/* events: ascending in seq. */
void tally_add(struct tally *tally, const struct batch_event *events, size_t count);
/* Counts the events that still wait: no more will come. */
void tally_finish(struct tally *tally);

#endif
