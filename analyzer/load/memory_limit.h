/* SPDX-License-Identifier: MIT */
/*
 * A limit for the memory that a command takes to read traces. If the command needs more, it ends
 * with a message of one line, before the kernel chooses a process to kill.
 */
#pragma once

#include <stdint.h>

#include "gpumemtrace/err.h"

/* Makes malloc fail beyond the limit from now on; 0: memory_limit_default(""). */
void memory_limit_set(uint64_t bytes);

/*
 * Returns a quarter of the machine's memory, or of the cgroup's limit if that limit is less. `root`
 * is the folder that holds proc and sys: "", except in tests.
 */
uint64_t memory_limit_default(const char *root);

/* Adds the limit, and how to change it, to a message "out of memory for …". */
void memory_limit_explain(struct err *err);
