/* SPDX-License-Identifier: MIT */
/*
 * Phases, marks and steps: from the public API and from NVTX. Those from before the first CUDA call
 * are kept (a bounded number) and told when the recording starts.
 */
#ifndef GPUMEMTRACE_INTERPOSE_REPORT_PHASES_H
#define GPUMEMTRACE_INTERPOSE_REPORT_PHASES_H

#include <stdint.h>

#include "gpumemtrace/event.h"

/* range_id 0: a stack-like range of this thread. Cheap and harmless when nothing is recorded. */
void phases_push(enum phase_source source, const char *name, uint64_t range_id);
void phases_pop(enum phase_source source, uint64_t range_id);
void phases_mark(enum phase_source source, const char *text);

#endif
