/* SPDX-License-Identifier: MIT */
/*
 * Phases, marks and steps, from the public API and from NVTX. Those that are open at the first CUDA
 * call are kept until then (a bounded number) and written when the recording starts. It must not
 * know hooks.
 */
#ifndef GPUMEMTRACE_INTERPOSE_REPORT_PHASES_H
#define GPUMEMTRACE_INTERPOSE_REPORT_PHASES_H

#include <stdint.h>

#include "gpumemtrace/event.h"

/* range_id 0: a range on this thread's stack of ranges. Cheap and harmless if nothing is
 * recorded. */
void phases_push(enum phase_source source, const char *name, uint64_t range_id);
/* domain: the name of the range's NVTX domain, which lives for ever; NULL: the default one, or not
 * known. */
void phases_push_nvtx(const char *domain, const char *name, uint64_t range_id);
void phases_pop(enum phase_source source, uint64_t range_id);
void phases_mark(enum phase_source source, const char *text);

#endif
