/* SPDX-License-Identifier: MIT */
/* Pairs of measured and estimated figures; see compare.h. */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/fragmentation/frag.h"
#include "analyzer/analysis/ledger/ledger.h"
#include "analyzer/analysis/phases.h"
#include "analyzer/analysis/sites.h"
#include "analyzer/util/array.h"

/* The rows are tried in order. If the name of a measured phase contains the word, it belongs to the
 * row's estimated phase. */
static const struct {
    const char *word;
    enum schedule_phase phase;
} phase_words[] = {
    {"backward", SCHEDULE_backward},   {"forward", SCHEDULE_forward},
    {"optimizer", SCHEDULE_optimizer}, {"init", SCHEDULE_init},
    {"parameters", SCHEDULE_init},     {"buffers", SCHEDULE_init},
    {"data", SCHEDULE_data},           {"input", SCHEDULE_data},
};

static void pair_measured(struct compare_pair *pair, uint64_t bytes)
{
    pair->measured_known = true;
    pair->measured_bytes = bytes;
}

static void pair_estimated(struct compare_pair *pair, uint64_t bytes)
{
    pair->estimated_known = true;
    pair->estimated_bytes = bytes;
}

/* --- categories --- */

static int measure_categories(struct comparison *comparison, const struct study *study,
                              uint32_t account, struct err *err)
{
    uint64_t bytes[CATEGORY_COUNT] = {0};
    struct sites sites = {0};
    uint64_t peak_index = study->history.accounts[account].peak.index;
    if (peak_index != INDEX_NONE) {
        if (sites_at(&sites, &study->categories, account, peak_index, err))
            return -1;
        sites_by_category(&sites, bytes);
        sites_release(&sites);
    }
    for (int i = 0; i < CATEGORY_COUNT; i++)
        pair_measured(&comparison->categories[i], bytes[i]);
    return 0;
}

static void estimate_categories(struct comparison *comparison, const struct estimate *estimate)
{
    for (int i = 0; i < CATEGORY_COUNT; i++)
        if (estimate_models(estimate, (enum category)i))
            pair_estimated(&comparison->categories[i], estimate->peak_moment.category_bytes[i]);
}

static void merge_buffers(struct comparison *comparison)
{
    struct compare_pair *buffers = &comparison->categories[CATEGORY_buffers];
    struct compare_pair *parameters = &comparison->categories[CATEGORY_parameters];
    comparison->buffers_are_parameters =
        buffers->measured_bytes == 0 && buffers->estimated_bytes > 0;
    if (!comparison->buffers_are_parameters)
        return;
    parameters->estimated_bytes += buffers->estimated_bytes;
    *buffers = (struct compare_pair){0};
}

/* --- phases --- */

/* Returns the estimated phase that belongs to a measured phase; SCHEDULE_PHASES: none does. */
static enum schedule_phase find_phase(const char *name)
{
    for (size_t i = 0; i < sizeof phase_words / sizeof phase_words[0]; i++)
        if (strcasestr(name, phase_words[i].word))
            return phase_words[i].phase;
    return SCHEDULE_PHASES;
}

static void measure_phases(struct comparison *comparison, const struct study *study,
                           uint32_t account)
{
    const struct history *history = &study->history;
    const struct phase_rows phases = phases_of(&study->phases, account);
    for (size_t i = 0; i < phases.count; i++) {
        const struct phase_row *row = &phases.items[i];
        if (row->path == HISTORY_NONE)
            continue;
        enum schedule_phase phase = find_phase(history->paths[row->path].name);
        if (phase != SCHEDULE_PHASES && row->peak_bytes >= comparison->phases[phase].measured_bytes)
            pair_measured(&comparison->phases[phase], row->peak_bytes);
    }
}

static void estimate_phases(struct comparison *comparison, const struct estimate *estimate)
{
    for (int i = 0; i < SCHEDULE_PHASES; i++)
        if (estimate->phase_peaks[i].total_bytes > 0)
            pair_estimated(&comparison->phases[i], estimate->phase_peaks[i].total_bytes);
}

/* --- departures --- */

ORDER_BY(by_size, struct departure, ORDER(llabs(b->bytes), llabs(a->bytes)), RISING(kind),
         RISING(category));

static void depart(struct comparison *comparison, enum departure_kind kind, enum category category,
                   int64_t bytes)
{
    if (bytes)
        comparison->departures[comparison->departure_count++] =
            (struct departure){kind, category, bytes};
}

/*
 * Returns the estimate's highest moment in the phase of the run's peak, because only moments of the
 * same phase can be compared.
 */
static const struct estimate_moment *comparable_moment(const struct comparison *comparison,
                                                       const struct estimate *estimate)
{
    const char *measured = comparison->measured_phase;
    const enum schedule_phase phase = measured ? find_phase(measured) : SCHEDULE_PHASES;
    return phase != SCHEDULE_PHASES && estimate->phase_peaks[phase].total_bytes > 0
               ? &estimate->phase_peaks[phase]
               : &estimate->peak_moment;
}

/*
 * Finds the departures category by category. Blocks of the framework's allocator are larger than
 * requests, so rounding is a departure of its own.
 */
static void find_departures(struct comparison *comparison, const struct estimate *estimate,
                            bool is_pool)
{
    const struct estimate_moment *moment = comparable_moment(comparison, estimate);
    int64_t rounding_bytes = 0;
    for (int i = 0; i < CATEGORY_COUNT; i++) {
        const bool merged = i == CATEGORY_parameters && comparison->buffers_are_parameters;
        uint64_t estimated = moment->category_bytes[i], rounding = moment->rounding_bytes[i];
        if (i == CATEGORY_buffers && comparison->buffers_are_parameters)
            continue;
        if (merged) {
            estimated += moment->category_bytes[CATEGORY_buffers];
            rounding += moment->rounding_bytes[CATEGORY_buffers];
        }
        rounding = is_pool ? rounding : 0;
        rounding_bytes += (int64_t)rounding;
        depart(comparison,
               comparison->categories[i].estimated_known ? DEPARTURE_category
                                                         : DEPARTURE_not_modelled,
               (enum category)i,
               (int64_t)comparison->categories[i].measured_bytes - (int64_t)(estimated + rounding));
    }
    depart(comparison, DEPARTURE_rounding, CATEGORY_other, rounding_bytes);
    depart(comparison, DEPARTURE_moment, CATEGORY_other,
           (int64_t)moment->total_bytes - (int64_t)estimate->peak_moment.total_bytes);
    comparison->departure_moment = moment;
    SORT(comparison->departures, comparison->departure_count, by_size);
}

/* --- the whole --- */

static void pair_reserved(struct comparison *comparison, const struct study *study,
                          uint32_t account, const struct estimate *estimate)
{
    struct compare_pair *reserved = &comparison->reserved;
    if (study->history.accounts[account].kind != ACCOUNT_pool)
        return;
    pair_estimated(reserved, estimate->peak.reserved_bytes);
    reserved->measured_known =
        frag_peak_reserved(&study->history.accounts[account], &reserved->measured_bytes);
    pair_estimated(&comparison->segments,
                   estimate->peak.reserved_bytes - estimate->peak.allocated_bytes);
    const uint64_t live_bytes = study->history.accounts[account].peak_bytes;
    if (reserved->measured_known && reserved->measured_bytes >= live_bytes)
        pair_measured(&comparison->segments, reserved->measured_bytes - live_bytes);
}

/*
 * Fills the pair `context`. Measured are the bytes that the card had in use at its peak and that no
 * recorded call explains.
 */
static int pair_context(struct comparison *comparison, const struct study *study, int device,
                        uint64_t context_bytes, struct err *err)
{
    static const enum ledger_kind kinds[] = {LEDGER_modules, LEDGER_context, LEDGER_growth,
                                             LEDGER_own_context};
    const struct device_use *use = history_device(&study->history, device);
    const struct moment peak = ledger_peak(&study->history, use);
    struct ledger ledger;
    if (context_bytes != COMPARE_CONTEXT_UNKNOWN)
        pair_estimated(&comparison->context, context_bytes);
    if (peak.index == INDEX_NONE)
        return 0;
    if (ledger_at(&ledger, &study->history, use, &peak, err))
        return -1;
    uint64_t bytes = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        bytes += ledger_sum(&ledger, kinds[i]);
    if (ledger.used_known)
        pair_measured(&comparison->context, bytes);
    ledger_release(&ledger);
    return 0;
}

int compare_account(struct comparison *comparison, const struct study *study, uint32_t account,
                    const struct estimate *estimate, uint64_t context_bytes, struct err *err)
{
    const struct account *measured = &study->history.accounts[account];
    *comparison = (struct comparison){.measured_phase = study_path(study, measured->peak_path)};
    pair_measured(&comparison->live, measured->peak_bytes);
    pair_estimated(&comparison->live, estimate->peak.requested_bytes);
    estimate_categories(comparison, estimate);
    estimate_phases(comparison, estimate);
    pair_reserved(comparison, study, account, estimate);
    measure_phases(comparison, study, account);
    if (measure_categories(comparison, study, account, err) ||
        pair_context(comparison, study, measured->device, context_bytes, err))
        return -1;
    merge_buffers(comparison);
    find_departures(comparison, estimate, measured->kind == ACCOUNT_pool);
    return 0;
}
