/* SPDX-License-Identifier: MIT */
/*
 * Phases, marks and steps, from the public API and from NVTX. Phases that are open at the first
 * CUDA call were kept until then (up to a limit), and are written when the recording starts.
 */
#ifndef GPUMEMTRACE_INTERPOSE_REPORT_PHASES_H
#define GPUMEMTRACE_INTERPOSE_REPORT_PHASES_H

#include <stdint.h>

#include "gpumemtrace/event.h"

/* range_id 0: a range on this thread's stack of ranges. Cheap if nothing is recorded.
 * Thread-safe. */
void phases_push(enum phase_source source, const char *name, uint64_t range_id);
/* domain: name of the range's NVTX domain, which is never freed; NULL: the default domain, or
 * unknown. */
void phases_push_nvtx(const char *domain, const char *name, uint64_t range_id);
void phases_pop(enum phase_source source, uint64_t range_id);
void phases_mark(enum phase_source source, const char *text);

#endif
