/* SPDX-License-Identifier: MIT */
/*
 * Counts the lookups of functions that concern GPU memory and that no hook covers, for each
 * function's name. Writes the counts to the trace.
 *
 * Callable from anywhere, before and after the recording begins. Keeps errno.
 */
#pragma once

#include <stdint.h>

/* Called around a lookup. name: the name that was looked up if the program gets the real function,
 * else NULL. The name is counted if it concerns GPU memory (coverage.def). A lookup inside another
 * lookup counts as a part of the outer one, for example cuGetProcAddress inside
 * cudaGetDriverEntryPoint. */
void coverage_lookup_begin(void);
void coverage_lookup_end(const char *name);

/* Counts something that is not a lookup, under the given name. */
void coverage_count(const char *name);
void coverage_count_many(const char *name, uint32_t count);

/* Writes the counts that are not in the trace yet, if a recording runs. */
void coverage_write_pending(void);
