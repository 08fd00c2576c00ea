/* SPDX-License-Identifier: MIT */
/*
 * Ways to GPU memory that the program looked up and that no hook stands for: counted by name, and
 * written to the trace. It must not know how a lookup works.
 *
 * Callable from anywhere, before and after the recording begins; errno is kept.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LOOKUP_COVERAGE_H
#define GPUMEMTRACE_INTERPOSE_LOOKUP_COVERAGE_H

#include <stdint.h>

/* Around a lookup. name: what was looked up if the program gets the real function, which is counted
 * if it concerns GPU memory (coverage.def); else NULL. A lookup inside another, as cuGetProcAddress
 * in cudaGetDriverEntryPoint, is part of it. */
void coverage_lookup_begin(void);
void coverage_lookup_end(const char *name);

/* Counts anything else, under a name of its own. */
void coverage_count(const char *name);
void coverage_count_many(const char *name, uint32_t count);

/* Writes what was counted and is not in the trace yet, if anything is recorded. */
void coverage_write_pending(void);

#endif
