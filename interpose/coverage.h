/* SPDX-License-Identifier: MIT */
/*
 * Ways to GPU memory that the program asked for and that no hook stands for: counted by name, told
 * in the trace. It must not know how a lookup works.
 */
#ifndef GPUMEMTRACE_INTERPOSE_COVERAGE_H
#define GPUMEMTRACE_INTERPOSE_COVERAGE_H

/* The program has got the real function of this name. Counts it if it has to do with GPU memory
 * (coverage.def). Callable anywhere, before and after the recording has begun; errno is kept. */
void coverage_note(const char *name);

/* The same for anything, under a name of its own. */
void coverage_count(const char *name);

/* Writes what was counted before the recording began. */
void coverage_replay_early(void);

#endif
