/* SPDX-License-Identifier: MIT */
/*
 * Samples of the process's own memory and its cgroup's, on the writer's thread: what is left of a
 * program that the kernel killed for it. It must not know events.
 *
 * Only under writer_lock. Nothing here fails aloud: without samples a trace lacks only them.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LIFE_HOST_SAMPLES_H
#define GPUMEMTRACE_INTERPOSE_LIFE_HOST_SAMPLES_H

#include <stdbool.h>

#include "trace/store.h"

/* Opens the files, before the program goes on. */
void host_samples_begin(void);
/* Stores a sample, unless it comes too early or says nothing new; always if it is the last one. */
void host_samples_take(struct store *store, bool is_last);
/* The recording is over: closes the files. */
void host_samples_end(void);
/* In a fork's child: files and figures are the parent's. */
void host_samples_forget(void);

#endif
