/* SPDX-License-Identifier: MIT */
/*
 * Functions that a program asked for and nobody modelled: what they return, and how often each was
 * called. Callable from any thread. It must not know how a program reaches them.
 */
#ifndef GPUMEMTRACE_SIMULATOR_STANDINS_DRYRUN_ANSWERS_H
#define GPUMEMTRACE_SIMULATOR_STANDINS_DRYRUN_ANSWERS_H

#include <stdint.h>

struct answer;

/* A new function, which lives as long as the process; NULL: no memory. */
const struct answer *answer_new(const char *name, int not_supported);

/* What a call of it gets. Made libraries jump here. */
uintptr_t answer_call(struct answer *answer);

/* Exported for the recorder: the name of the index-th function that was called, from 0, and how often so
 * far; NULL: no more. */
const char *gpumemtrace_dryrun_unanswered(unsigned index, uint64_t *count);

/* Exported for the simulated driver and runtimes: a call of a function of theirs without a body. name lives as long as
 * the process. */
void gpumemtrace_dryrun_count(const char *name);

#endif
