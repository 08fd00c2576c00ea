/* SPDX-License-Identifier: MIT */
/* The change between two moments; see run_diff.h. */
#include "run_diff.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alike.h"
#include "analyzer/analysis/study_open.h"
#include "analyzer/analysis/moment.h"
#include "analyzer/analysis/sites.h"
#include "analyzer/thresholds/thresholds.h"
#include "merged.h"

/* The name of the bytes that a moved peak had and the compared moment lacks. */
#define ELSEWHERE "(the peak was elsewhere)"

static int hold_side(struct run_diff *change, int number, const struct run_diff_side *side,
                     unsigned by_call, struct err *err)
{
    struct holding *holding = &change->sides[number];
    if (side->kept)
        return baseline_holding(holding, &change->names, side->kept, err);
    if (!side->study) {
        *holding = (struct holding){.names = &change->names, .folder = ""};
        return 0;
    }
    if (holding_of(holding, &change->names, side->study, side->account, &side->at, by_call, err))
        return -1;
    return side->peak_bytes > holding->total_bytes
               ? holding_add_rest(holding, ELSEWHERE, side->peak_bytes - holding->total_bytes, err)
               : 0;
}

/*
 * Returns the kinds of sites that calls to backward left on the side `with` only, as bits of 1 <<
 * kind. Compares SITE_LEFT only if both moments are within a backward or both are outside.
 */
static unsigned left_alone(const struct holding *with, const struct holding *without)
{
    unsigned kinds = 0;
    if (with->left_bytes && !without->left_bytes && with->is_in_backward == without->is_in_backward)
        kinds |= 1U << SITE_LEFT;
    if (with->left_graph_bytes && !without->left_graph_bytes)
        kinds |= 1U << SITE_GRAPH_LEFT;
    return without->count ? kinds : 0;
}

/*
 * If earlier calls to backward left memory on one side only, the program keeps this memory, no
 * matter which forward it belongs to. So this memory is counted at the line that called backward.
 */
static int hold_left(struct run_diff *change, const struct run_diff_side *const sides[2],
                     struct err *err)
{
    for (int with = 0; with < 2; with++) {
        const unsigned by_call = left_alone(&change->sides[with], &change->sides[!with]);

        if (!by_call || !sides[with]->study)
            continue;
        holding_release(&change->sides[with]);
        if (hold_side(change, with, sides[with], by_call, err))
            return -1;
    }
    return 0;
}

int run_diff_find(struct run_diff *change, const struct run_diff_side *before,
                  const struct run_diff_side *after, struct err *err)
{
    *change = (struct run_diff){.moved_side = -1};
    const struct run_diff_side *const sides[] = {before, after};
    if (!hold_side(change, 0, before, 0, err) && !hold_side(change, 1, after, 0, err) &&
        !hold_left(change, sides, err) &&
        !diff_tree_find(&change->difference, &change->sides[0], &change->sides[1], err))
        return 0;
    run_diff_release(change);
    return -1;
}

void run_diff_release(struct run_diff *change)
{
    diff_tree_release(&change->difference);
    holding_release(&change->sides[0]);
    holding_release(&change->sides[1]);
    text_set_release(&change->names);
}

/* --- peaks in different parts of the program --- */

static bool is_elsewhere(const struct run_diff *change, const struct diff_leaf *leaf)
{
    return change->moved_side >= 0 && !strcmp(change->names.texts[leaf->name], ELSEWHERE);
}

struct churn {
    uint64_t grown_bytes, shrunk_bytes;
};

static struct churn churn_of(const struct run_diff *change)
{
    const struct diff_tree *difference = &change->difference;
    struct churn churn = {0};
    for (size_t i = 0; i < difference->leaf_count; i++) {
        const int64_t delta = diff_leaf_delta(&difference->leaves[i]);

        if (is_elsewhere(change, &difference->leaves[i]))
            continue;
        *(delta > 0 ? &churn.grown_bytes : &churn.shrunk_bytes) += (uint64_t)llabs(delta);
    }
    return churn;
}

/* Returns the bytes that the lower peak had and the higher peak lacks. */
static uint64_t gone_bytes_of(const struct churn *churn, int lower)
{
    return lower == 0 ? churn->shrunk_bytes : churn->grown_bytes;
}

static uint64_t bytes_of(const struct churn *churn)
{
    return churn->grown_bytes + churn->shrunk_bytes;
}

/* True if so much of the lower peak is gone that the higher one may be in another part of the
 * program. */
static bool may_have_moved(const struct run_diff *change, int lower)
{
    const struct churn churn = churn_of(change);
    return churn.grown_bytes && churn.shrunk_bytes &&
           gone_bytes_of(&churn, lower) >= change->difference.bytes[lower] / MOVED_PEAK_DIVISOR;
}

/* True if the new comparison shows less change, and if few of the bytes that were gone are still
 * gone. */
static bool is_more_alike(const struct run_diff *alike, const struct run_diff *change, int lower)
{
    const struct churn now = churn_of(alike), before = churn_of(change);
    return bytes_of(&now) < bytes_of(&before) &&
           gone_bytes_of(&now, lower) <= gone_bytes_of(&before, lower) / STILL_GONE_DIVISOR;
}

static int find_at(struct run_diff *alike, const struct run_diff_side *sides[2], int lower,
                   const struct study *again, uint64_t seq, struct err *err)
{
    const struct run_diff_side *side = sides[lower];
    struct run_diff_side other = {.study = again,
                                  .account = study_counterpart(again, side->study, side->account),
                                  .peak_bytes =
                                      side->study->history.accounts[side->account].peak_bytes};
    char at[24];
    snprintf(at, sizeof at, "%" PRIu64, seq);
    if (other.account == HISTORY_NONE)
        return run_diff_find(alike, sides[0], sides[1], err);
    if (moment_find("at", at, &again->history, other.account, &other.at, err) ||
        run_diff_find(alike, lower == 0 ? &other : sides[0], lower == 0 ? sides[1] : &other, err))
        return -1;
    alike->moved_side = lower;
    alike->alike_bytes = other.peak_bytes;
    for (size_t i = 0; i < alike->difference.leaf_count; i++)
        if (is_elsewhere(alike, &alike->difference.leaves[i]))
            alike->alike_bytes -= alike->difference.leaves[i].bytes[lower];
    return 0;
}

/* Compares with the moment `seq` of the lower side. If this comparison is better, it replaces
 * *change. */
static int try_at(struct run_diff *change, const struct run_diff_side *sides[2], int lower,
                  uint64_t seq, struct err *err)
{
    const struct study *own = sides[lower]->study;
    char at[24];
    const struct study_ask ask = {
        .needs = STUDY_NEEDS_births, .at = at, .takes_library_ranges = own->takes_library_ranges};
    struct study again;
    struct run_diff alike;
    snprintf(at, sizeof at, "%" PRIu64, seq);
    if (study_open_again(&again, own, &ask, err))
        return -1;
    const struct symbol_sources *sources = again.is_again ? NULL : sides[lower]->sources;
    const int status = (sources && symbols_set_sources(again.symbols, sources, err)) ||
                               find_at(&alike, sides, lower, &again, seq, err)
                           ? -1
                           : 0;
    study_release(&again);
    if (status)
        return -1;
    if (alike.moved_side >= 0 && is_more_alike(&alike, change, lower)) {
        run_diff_release(change);
        *change = alike;
    } else {
        run_diff_release(&alike);
    }
    return 0;
}

int run_diff_of_peaks(struct run_diff *change, const struct run_diff_side *before,
                      const struct run_diff_side *after, struct err *err)
{
    const struct run_diff_side *sides[] = {before, after};
    if (run_diff_find(change, before, after, err))
        return -1;
    const uint64_t *bytes = change->difference.bytes;
    const int lower = bytes[1] >= bytes[0] ? 0 : 1;
    if (!sides[lower]->study || !may_have_moved(change, lower))
        return 0;
    uint64_t seq;
    if (!alike_find(&seq, &change->sides[!lower], &change->sides[lower], err) &&
        (!seq || seq == sides[lower]->at.seq || !try_at(change, sides, lower, seq, err)))
        return 0;
    run_diff_release(change);
    return -1;
}

/* --- rows --- */

static const struct diff_row *row_of(const struct run_diff *change, size_t number, bool grew)
{
    const struct diff_tree *difference = &change->difference;
    for (size_t i = 0; i < difference->row_count; i++) {
        const struct diff_row *row = &difference->rows[i];

        if ((row->delta_bytes > 0) == grew && !is_elsewhere(change, row->leaf) && !number--)
            return row;
    }
    return NULL;
}

const struct diff_row *run_diff_guilty(const struct run_diff *change)
{
    return row_of(change, 0, true);
}

const struct diff_row *run_diff_next(const struct run_diff *change)
{
    return row_of(change, 1, true);
}

const struct diff_row *run_diff_shrunk(const struct run_diff *change)
{
    return row_of(change, 0, false);
}
