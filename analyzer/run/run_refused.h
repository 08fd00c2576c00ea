/* SPDX-License-Identifier: MIT */
/* Tells whether a failed program was refused memory, and on which card. The command `oom` explains
 * why memory was refused. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "run_traces.h"

/* Returns whether some trace of the run has a failed allocation with no successful one after it.
 * *card_bytes becomes the size of the largest card in these traces; 0: unknown. */
bool run_was_refused(const struct run_past *run, uint64_t *card_bytes);
