/* SPDX-License-Identifier: MIT */
/* Tells whether a program that failed in a dry run may have failed because it read a value that the
 * dry run could not compute. */
#pragma once

#include <stdbool.h>

#include "run_traces.h"

/* Returns whether the program certainly read no such value: every trace of the run has PyTorch,
 * whose reads of such values are recorded, and records none. False if there is no trace. */
bool run_read_no_guess(const struct run_past *run);
