/* SPDX-License-Identifier: MIT */
/*
 * Sums what each phase did to one account. A row sums all occurrences of one path, including the
 * phases nested in them.
 *
 *   allocated, freed   by events that belong to the phase or to one nested in it
 *   kept               the part of `allocated` that was still live when the occurrence ended
 *   peak               the highest live bytes of the whole account while an occurrence was open
 *   entry              live bytes at the push of the first occurrence
 *
 * A row also has the median, the highest and the last value that single occurrences had for
 * allocated, kept and peak; the last value is that of the occurrence that ended last. It has the
 * same three values for the bytes allocated per step: the sum over the occurrences that ended in
 * the step. Only steps that ended, and in which an occurrence ended, count.
 *
 * The row without a path stands for the time outside any phase, as one occurrence. Watches the
 * replay. Keeps a row for each path and account, and sums for each open phase.
 */
#pragma once

#include "analyzer/analysis/steps/step_ends.h"
#include "analyzer/replay/history/observer.h"
#include "analyzer/util/spread.h"

enum phase_figure { PHASE_PEAK, PHASE_ALLOCATED, PHASE_KEPT, PHASE_FIGURES };

struct phase_row {
    uint32_t path; /* HISTORY_NONE: outside any phase */
    uint64_t count;
    uint64_t entry_bytes, peak_bytes, allocated_bytes, freed_bytes, kept_bytes;
    uint64_t peak_occurrence;          /* the first with peak_bytes, numbered from 1; 0: outside */
    struct spread each[PHASE_FIGURES]; /* one value per occurrence; empty: outside */
    struct spread per_step;            /* allocated bytes; empty: outside, or no steps known */
    uint64_t step, step_bytes;         /* the step not yet in per_step; 0: none */
};

struct phase_rows {
    const struct phase_row *items; /* in the order of first push; last, if any, the one outside */
    size_t count;
};

/* Ready for use if `ends` is set and all other fields are zeroed. */
struct phases {
    const struct step_ends *ends;    /* owned by the caller; filled by an earlier observer */
    uint64_t ended_count;            /* steps that ended with the kind of end that counts */
    struct account_phases *accounts; /* by account */
    size_t account_count, account_capacity;
    uint64_t *occurrences_count; /* by path: how many began */
    size_t path_count, path_capacity;
    uint64_t *occurrence; /* by span: number of the occurrence of its path, from 1 */
    size_t span_count, span_capacity;
    struct path_steps {
        uint64_t step, count; /* steps in which an occurrence ended: the last one; their number */
    } * steps;                /* by path */
    size_t steps_count, steps_capacity;
};

struct observer phases_observer(struct phases *phases);
void phases_release(struct phases *phases);

/* The rows of an account, which must be the account of a layer. Valid until phases_release. */
struct phase_rows phases_of(const struct phases *phases, uint32_t account);

/* "api", "nvtx", "inferred"; NULL outside any phase. */
const char *phase_source_name(const struct history *history, uint32_t path);

/* A hint for a phase name that the trace lacks: "did you mean 'forward'?", or a list
 * of its phases. */
#define PHASES_HINT_BYTES 256
const char *phases_hint(char hint[PHASES_HINT_BYTES], const struct history *history,
                        const char *typed);

/* Returns the numbers of all paths of a history (path_count of them), as a tree in pre-order, with
 * siblings in the order of their first push. The caller frees them. NULL: out of memory. */
uint32_t *phases_as_tree(const struct history *history, struct err *err);
