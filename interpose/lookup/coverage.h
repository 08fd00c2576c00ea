/* SPDX-License-Identifier: MIT */
/*
 * Ways to GPU memory that the program asked for and that no hook stands for: counted by name, told
 * in the trace. It must not know how a lookup works.
 *
 * Callable anywhere, before and after the recording has begun; errno is kept.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LOOKUP_COVERAGE_H
#define GPUMEMTRACE_INTERPOSE_LOOKUP_COVERAGE_H

/* Around a lookup. At its end name is NULL, or what was looked up if the program gets the real
 * function: counted if it has to do with GPU memory (coverage.def). A lookup inside another, as
 * cuGetProcAddress in cudaGetDriverEntryPoint, is part of it. */
void coverage_lookup_begin(void);
void coverage_lookup_end(const char *name);

/* Counts anything, under a name of its own. */
void coverage_count(const char *name);

/* Writes what was counted and is not in the trace yet, if anything is recorded. */
void coverage_write_pending(void);

#endif
