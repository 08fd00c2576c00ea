/* SPDX-License-Identifier: MIT */
/*
 * Whether a program that failed in a dry run may have failed over a value that nobody computed. It must
 * not know which value, nor where.
 */
#ifndef GPUMEMTRACE_ANALYZER_RUN_RUN_GUESSES_H
#define GPUMEMTRACE_ANALYZER_RUN_RUN_GUESSES_H

#include <stdbool.h>

#include "run_traces.h"

/* Each trace of the run is of a program with PyTorch, where readings of such values are counted, and has none. */
bool run_read_no_guess(const struct run_past *run);

#endif
