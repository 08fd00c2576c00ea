/* SPDX-License-Identifier: MIT */
/*
 * Records phases, marks and steps, which come from the public API and from NVTX. Before the first
 * CUDA call, phases are kept in memory, up to a limit. The phases that are still open at the first
 * CUDA call are written when the recording starts.
 */
#pragma once

#include <stdint.h>

#include "gpumemtrace/event.h"

/* range_id: 0 means a range on this thread's stack of ranges. The call is cheap if nothing is
 * recorded. Thread-safe. */
void phases_push(enum phase_source source, const char *name, uint64_t range_id);
/* domain: the name of the range's NVTX domain; the caller must never free this text. NULL: the
 * default domain, or an unknown domain. */
void phases_push_nvtx(const char *domain, const char *name, uint64_t range_id);
void phases_pop(enum phase_source source, uint64_t range_id);
void phases_mark(enum phase_source source, const char *text);
