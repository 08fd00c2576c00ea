/* SPDX-License-Identifier: MIT */
/*
 * Whether a program that failed had been refused memory, and on which card. It must not know why, which
 * is the part of `oom`.
 */
#ifndef GPUMEMTRACE_ANALYZER_RUN_RUN_REFUSED_H
#define GPUMEMTRACE_ANALYZER_RUN_RUN_REFUSED_H

#include <stdbool.h>
#include <stdint.h>

#include "run_traces.h"

/* In a trace of the run an allocation failed and none was served after it. card_bytes
 * becomes that of the largest card of such a trace; 0: not known. */
bool run_was_refused(const struct run_past *run, uint64_t *card_bytes);

#endif
