/* SPDX-License-Identifier: MIT */
/*
 * What each phase did to one stock. A row sums the occurrences of one path, nested phases
 * included. It must not know how rows are shown.
 *
 *   allocated, freed   by events that belong to the phase or to one nested in it
 *   kept               allocated that way and still live when the occurrence ended
 *   peak               the highest live bytes of the whole stock while an occurrence was open
 *   entry              live bytes at the push of the first occurrence
 *
 * The row without a path is the time outside any phase, taken as one occurrence.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_PHASES_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_PHASES_H

#include "analyzer/replay/history.h"

struct phase_row {
    uint32_t path; /* HISTORY_NONE: outside any phase */
    uint64_t count;
    uint64_t entry_bytes, peak_bytes, allocated_bytes, freed_bytes, kept_bytes;
};

struct phases {
    struct phase_row
        *rows; /* in the order of the first push; outside last, if anything was there */
    size_t count;
};

int phases_of(struct phases *phases, const struct history *history, uint32_t stock,
              struct err *err);
void phases_release(struct phases *phases);

#endif
