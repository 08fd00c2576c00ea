/* SPDX-License-Identifier: MIT */
/*
 * Keeps the last and the highest value of the memory of the process and of its cgroup in the table
 * meta. The writer's thread stores them. If the kernel kills the process for lack of memory, these
 * values show the reason.
 *
 * Call these functions only with writer_lock held. Errors are not reported, because a trace without
 * these rows lacks nothing else.
 */
#pragma once

#include <stdbool.h>

#include "trace/store.h"

/* Opens the files. Call it before the program goes on. */
void host_memory_begin(void);
/* Stores the values if enough time has passed and one of them changed. If is_last is true, always
 * stores them. */
void host_memory_store(struct store *store, bool is_last);
/* Closes the files at the end of the recording. */
void host_memory_end(void);
/* In a fork's child: forgets the files and values of the parent. */
void host_memory_forget(void);
