/* SPDX-License-Identifier: MIT */
/*
 * Samples of the memory of the process and of its cgroup, taken by the writer's thread. After a
 * kill by the kernel for lack of memory they show the reason.
 *
 * Call only with writer_lock held. Errors are not reported: without samples the trace only lacks
 * them.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LIFE_HOST_SAMPLES_H
#define GPUMEMTRACE_INTERPOSE_LIFE_HOST_SAMPLES_H

#include <stdbool.h>

#include "trace/store.h"

/* Opens the files. Called before the program goes on. */
void host_samples_begin(void);
/* Stores a sample if enough time has passed and the figures changed; always if is_last. */
void host_samples_take(struct store *store, bool is_last);
/* Closes the files at the end of the recording. */
void host_samples_end(void);
/* In a fork's child: forgets the files and figures of the parent. */
void host_samples_forget(void);

#endif
