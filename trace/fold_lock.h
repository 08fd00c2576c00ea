/* SPDX-License-Identifier: MIT */
/*
 * Lets one process at a time fold a ring into its trace. The lock is on the ring's file, so the kernel
 * releases it when its holder is killed, and it is on a byte of its own, so nobody takes a folding
 * process for a recorder. It must not know how a ring is folded.
 */
#ifndef GPUMEMTRACE_TRACE_FOLD_LOCK_H
#define GPUMEMTRACE_TRACE_FOLD_LOCK_H

#include "ring.h"

enum fold_lock {
    FOLD_LOCK_TAKEN, /* until ring_release; a process that may not write the ring shares it */
    FOLD_LOCK_GONE,  /* another process has folded the ring and removed it: open the trace again */
    FOLD_LOCK_STUCK, /* another process holds the lock and does nothing, or there are no locks */
};

/* Waits as long as another process writes the trace. */
enum fold_lock fold_lock_take(const struct ring *ring, const char *trace_path);

#endif
