/* SPDX-License-Identifier: MIT */
/*
 * The memory of the process and of its cgroup: the last value and the highest, kept in meta by the
 * writer's thread. After a kill by the kernel for lack of memory they show the reason.
 *
 * Call only with writer_lock held. Errors are not reported: without these rows the trace only lacks
 * them.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LIFE_HOST_MEMORY_H
#define GPUMEMTRACE_INTERPOSE_LIFE_HOST_MEMORY_H

#include <stdbool.h>

#include "trace/store.h"

/* Opens the files. Called before the program goes on. */
void host_memory_begin(void);
/* Stores the values if enough time has passed and one changed; always if is_last. */
void host_memory_store(struct store *store, bool is_last);
/* Closes the files at the end of the recording. */
void host_memory_end(void);
/* In a fork's child: forgets the files and values of the parent. */
void host_memory_forget(void);

#endif
