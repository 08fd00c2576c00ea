/* SPDX-License-Identifier: MIT */
/*
 * Puts events in order for the line at exit: they reach the writer thread by thread, and what is
 * live must be counted by their numbers. One that a thread is still inside of is waited for, but
 * not for more than TALLY_WAITING_MAX others. It must not know what events mean: live.h does.
 */
#ifndef GPUMEMTRACE_TRACE_TALLY_H
#define GPUMEMTRACE_TRACE_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "live.h"
#include "store.h"

#define TALLY_WAITING_MAX 65536

struct tally {
    struct live live;
    struct live_event *waiting; /* ascending seq */
    size_t waiting_count, waiting_limit;
    uint64_t next_seq;
};

void tally_release(struct tally *tally);
/* A batch, ascending in seq. */
void tally_add(struct tally *tally, const struct store_event *events, size_t count);
/* No more will come: what waits is counted. */
void tally_finish(struct tally *tally);

#endif
