/* SPDX-License-Identifier: MIT */
/*
 * Phases of one kind may alternate within a step, as the optimizers of two networks do. They differ
 * by path and by caller (inferred.h). An optimizer whose step allocates only the first time is
 * known by what is called around its step, such as gradient clipping. One of these phases closes
 * the cycle, which ends the step.
 * The rows show which one, for phases that end in the given order:
 *
 *     D G D G          G closes the cycle. While the cycle has closed at most eight times, the
 *                      phase that appeared last closes it.
 *     D D G G D D G G  The first G after a D closes it. If D stops coming, each G closes it again,
 *                      after as many ends as in the last row.
 *     A A … A B A B    A closes it, because B came too late, and no less often than A.
 *     D … D D G D D G  G closes it although it came late: from the third G that follows the same
 *                      number of D, which is 2 to 8.
 *     A A … A B B B B  B closes it, because A stopped coming: n is the most ends of other phases
 *                      between two A, and since the last A, more than 2 n + 2 have ended.
 *
 * If another phase closes the cycle from now on, by the first or the fourth row, the cycles that
 * were closed before are void.
 *
 * Only the whole run tells that phases do not alternate but follow one another, as the loops of a
 * program do: A A A B B B B.
 */
#pragma once

#include "analyzer/replay/phase/spans.h"

enum { CYCLE_PHASES_MAX = 16 };

/* One of the alternating phases. */
struct cycle_phase {
    uint32_t path;
    uint32_t callers[CALLER_RANKS]; /* of its first occurrence, as in struct span */
    uint64_t closes_before;         /* how often the cycle had closed when this phase ended last */
    uint64_t gap;       /* how often the cycle closed between the last two ends of this phase */
    uint32_t same_gaps; /* how often in a row the gap was the same */
};

/* Zeroed is ready for use. */
struct phase_cycle {
    struct cycle_phase items[CYCLE_PHASES_MAX];
    uint32_t count, closing;
    uint64_t closes_count, ends_count;
    uint64_t others_count,
        most_others_count; /* ends of other phases: since the last closing; the most between two */
    bool follows_others;   /* the closing phase closes only after another phase */
    uint64_t same_count;   /* how often in a row the closing phase ended, with no other between */
    uint32_t last;         /* the phase that ended last */
    uint64_t last_count;   /* how often in a row it ended */
    bool has_alternated;   /* a phase ended again after another */
};

/* CYCLE_CLOSES_ANEW: another phase closes the cycle from now on. The cycles that were closed before
 * are void. */
enum cycle_end { CYCLE_GOES_ON, CYCLE_CLOSES, CYCLE_CLOSES_ANEW };

/* To be called at the end of a phase. Phases beyond CYCLE_PHASES_MAX close no cycle. */
enum cycle_end phase_cycle_end(struct phase_cycle *cycle, const struct span *span);
/* True if no phase has ended again after another one, and the last one ended three times in a row.
 * False beyond CYCLE_PHASES_MAX phases. */
bool phase_cycle_is_sequence(const struct phase_cycle *cycle);
