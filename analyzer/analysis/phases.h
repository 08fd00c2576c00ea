/* SPDX-License-Identifier: MIT */
/*
 * What each phase did to one account. A row sums the occurrences of one path, nested phases
 * included. It must not know how rows are shown.
 *
 *   allocated, freed   by events that belong to the phase or to one nested in it
 *   kept               allocated that way and still live when the occurrence ended
 *   peak               the highest live bytes of the whole account while an occurrence was open
 *   entry              live bytes at the push of the first occurrence
 *
 * What one occurrence did: allocated, kept and peak of it alone. A row has the median, the highest
 * and the last of them, in the order in which they ended. The same of a step: what the occurrences
 * that ended in it allocated, of the steps that ended and in which any did.
 *
 * The row without a path is the time outside any phase, taken as one occurrence. It watches the
 * replay, and keeps a row for each path and account, and sums for each open phase.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_PHASES_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_PHASES_H

#include "analyzer/analysis/steps/step_ends.h"
#include "analyzer/replay/history/observer.h"
#include "analyzer/util/spread.h"

enum phase_figure { PHASE_PEAK, PHASE_ALLOCATED, PHASE_KEPT, PHASE_FIGURES };

struct phase_row {
    uint32_t path; /* HISTORY_NONE: outside any phase */
    uint64_t count;
    uint64_t entry_bytes, peak_bytes, allocated_bytes, freed_bytes, kept_bytes;
    uint64_t peak_occurrence; /* that reached peak_bytes first, from 1 by beginning; 0: outside */
    struct spread each[PHASE_FIGURES]; /* of one occurrence; empty: outside */
    struct spread per_step;            /* allocated; empty: outside, or no steps are known */
    uint64_t step, step_bytes;         /* of the step that is not in per_step yet; 0: none */
};

struct phase_rows {
    const struct phase_row *items; /* in the order of the first push; outside last, if anything
                                      was there */
    size_t count;
};

/* With its ends it is ready for use, and empty. */
struct phases {
    const struct step_ends *ends;    /* the caller's, found by an observer before this one */
    uint64_t ended_count;            /* steps, of the kind of end that counts */
    struct account_phases *accounts; /* by account */
    size_t account_count, account_capacity;
    uint64_t *occurrences_count; /* by path */
    size_t path_count, path_capacity;
    uint64_t *occurrence; /* by span: which of its path it is, from 1 */
    size_t span_count, span_capacity;
    uint64_t open_count;
    struct path_steps {
        uint64_t step, count; /* the last step in which an occurrence ended; how many there were */
    } * steps;                /* by path */
    size_t steps_count, steps_capacity;
};

struct observer phases_observer(struct phases *phases);
void phases_release(struct phases *phases);

/* The rows of an account of a layer, valid until phases_release. */
struct phase_rows phases_of(const struct phases *phases, uint32_t account);

/* "api", "nvtx", "inferred"; NULL outside any phase. */
const char *phase_source_name(const struct history *history, uint32_t path);

/* What to say to somebody who asked for a phase that is not there: "did you mean 'forward'?", or which
 * there are. */
#define PHASES_HINT_BYTES 256
const char *phases_hint(char hint[PHASES_HINT_BYTES], const struct history *history,
                        const char *typed);

/* The paths of a history, each after the one around it and its brothers in the order of their first
 * push: path_count of them, the caller's to free. NULL: out of memory. */
uint32_t *phases_as_tree(const struct history *history, struct err *err);

#endif
