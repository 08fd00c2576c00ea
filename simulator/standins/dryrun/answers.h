/* SPDX-License-Identifier: MIT */
/*
 * Functions that a program needs and that the simulator does not model. Gives the result of each
 * function, and counts its calls. Thread-safe.
 */
#pragma once

#include <stdint.h>

struct answer;

/* Creates a function, which lives as long as the process. NULL: out of memory. */
const struct answer *answer_new(const char *name, int not_supported);

/* Returns the result of a call. Generated libraries jump here. */
uintptr_t answer_call(struct answer *answer);

/* Exported for the recorder: the name of the index-th function that was called, from 0, and its
 * number of calls so far. NULL: no more functions. */
const char *gpumemtrace_dryrun_unanswered(unsigned index, uint64_t *count);

/* Exported for the simulated driver and runtimes: counts a call of one of their functions without a
 * body. name must live as long as the process. */
void gpumemtrace_dryrun_count(const char *name);
