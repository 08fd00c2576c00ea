/* SPDX-License-Identifier: MIT */
/* Pairs of measured and estimated figures; see compare.h. */
#include "compare.h"

#include <string.h>

#include "analyzer/analysis/frag.h"
#include "analyzer/analysis/phases.h"
#include "analyzer/analysis/sites.h"

/* A measured phase belongs to the estimated one whose word is in its name; the first row wins. */
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
                              uint32_t stock, struct err *err)
{
    uint64_t bytes[CATEGORY_COUNT] = {0};
    struct sites sites = {0};
    uint64_t peak_index = study->history.stocks[stock].peak.index;
    if (peak_index != INDEX_NONE) {
        if (sites_at(&sites, &study->categories, stock, peak_index, err))
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

/* SCHEDULE_PHASES: none. */
static enum schedule_phase find_phase(const char *name)
{
    for (size_t i = 0; i < sizeof phase_words / sizeof phase_words[0]; i++)
        if (strcasestr(name, phase_words[i].word))
            return phase_words[i].phase;
    return SCHEDULE_PHASES;
}

static void measure_phases(struct comparison *comparison, const struct study *study, uint32_t stock)
{
    const struct history *history = &study->history;
    const struct phase_rows phases = phases_of(&study->phases, stock);
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

/* --- the whole --- */

static void pair_reserved(struct comparison *comparison, const struct study *study, uint32_t stock,
                          const struct estimate *estimate)
{
    struct compare_pair *reserved = &comparison->reserved;
    if (study->history.stocks[stock].account != ACCOUNT_pool)
        return;
    pair_estimated(reserved, estimate->peak.reserved_bytes);
    reserved->measured_known =
        frag_peak_reserved(&study->history.stocks[stock], &reserved->measured_bytes);
}

int compare_stock(struct comparison *comparison, const struct study *study, uint32_t stock,
                  const struct estimate *estimate, struct err *err)
{
    const struct stock *measured = &study->history.stocks[stock];
    *comparison = (struct comparison){.measured_phase = study_path(study, measured->peak_path)};
    pair_measured(&comparison->live, measured->peak_bytes);
    pair_estimated(&comparison->live, estimate->peak.requested_bytes);
    estimate_categories(comparison, estimate);
    estimate_phases(comparison, estimate);
    pair_reserved(comparison, study, stock, estimate);
    measure_phases(comparison, study, stock);
    if (measure_categories(comparison, study, stock, err))
        return -1;
    merge_buffers(comparison);
    return 0;
}
