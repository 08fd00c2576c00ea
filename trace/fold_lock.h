/* SPDX-License-Identifier: MIT */
/*
 * A lock that lets one process at a time fold a ring into its trace. It is on the ring's file, so
 * the kernel releases it when its holder is killed. The lock covers one byte far beyond the ring's
 * end, so that a folding process is not mistaken for a recorder.
 */
#pragma once

#include "ring.h"

enum fold_lock {
    FOLD_LOCK_TAKEN, /* until ring_release; processes that may not write the ring share the lock */
    FOLD_LOCK_GONE,  /* another process has folded and removed the ring: open the trace again */
    FOLD_LOCK_STUCK, /* another process holds the lock and writes nothing, or no locks exist */
};

/* Waits while another process writes the trace. */
enum fold_lock fold_lock_take(const struct ring *ring, const char *trace_path);
