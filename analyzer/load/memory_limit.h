/* SPDX-License-Identifier: MIT */
/*
 * How much memory a command may take to read traces: what needs more ends in one line, not by the
 * kernel's choice of a process to kill. It must not know what memory is taken for.
 */
#ifndef GPUMEMTRACE_ANALYZER_LOAD_MEMORY_LIMIT_H
#define GPUMEMTRACE_ANALYZER_LOAD_MEMORY_LIMIT_H

#include <stdint.h>

#include "gpumemtrace/err.h"

/* From now on malloc refuses what goes beyond; 0 stands for memory_limit_default(""). */
void memory_limit_set(uint64_t bytes);

/* A quarter of the machine's memory, or of its cgroup's if that has less. `root` is the folder that
 * holds proc and sys: "", but for tests. */
uint64_t memory_limit_default(const char *root);

/* Adds to "out of memory for …" what the limit is and how to change it. */
void memory_limit_explain(struct err *err);

#endif
