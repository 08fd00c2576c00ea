/* SPDX-License-Identifier: MIT */
/* Names the reasons why the peak differs from the estimate; see departures.h. */
#include "departures.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/analysis/site_tables/site_rows.h"
#include "analyzer/estimate/compare/likeness.h"
#include "analyzer/page/estimate.h"
#include "analyzer/page/opening.h"
#include "analyzer/render/units.h"
#include "analyzer/thresholds/thresholds.h"

enum { NAME_BYTES = 64 };
static const char *name_of(const struct comparison *comparison, const struct departure *departure)
{
    if (departure->kind == DEPARTURE_rounding)
        return "Rounding to blocks";
    if (departure->kind == DEPARTURE_moment)
        return "Another moment";
    if (departure->category == CATEGORY_parameters && comparison->buffers_are_parameters)
        return "Parameters and buffers";
    return category_title(departure->category);
}

static const char *key_of(const struct departure *departure)
{
    return departure->kind == DEPARTURE_rounding ? "rounding"
           : departure->kind == DEPARTURE_moment ? "moment"
                                                 : category_key(departure->category);
}

static const char *words_of(const struct departure *departure)
{
    if (departure->kind == DEPARTURE_rounding)
        return "the framework's allocator hands out blocks of 512 bytes and more";
    if (departure->kind == DEPARTURE_moment)
        return "the estimate has its own peak in another phase";
    if (departure->kind == DEPARTURE_not_modelled)
        return departure->category == CATEGORY_workspace
                   ? "not in this estimate: --workspace=SIZE counts it"
                   : "not modelled";
    return departure->bytes > 0 ? "more than estimated" : "less than estimated";
}

/* --- the line --- */

/* Removes the sites of all other categories. The order of the sites stays. */
static void keep_category(struct sites *sites, enum category category)
{
    size_t kept = 0;
    for (size_t i = 0; i < sites->count; i++)
        if (sites->items[i].category == category)
            sites->items[kept++] = sites->items[i];
    sites->count = kept;
}

/* tell is NULL if the caller does not want the line. */
struct teller {
    departure_told *tell;
    void *told;
};

static int say_held_site(struct opening *opening, const struct site_row *row, const char *head,
                         const struct teller *teller, struct err *err)
{
    if (!row->blamed->is_known)
        return page_say(opening, VERDICT_why, "%s.", head);
    if (teller->tell && teller->tell(teller->told, row->blamed, err))
        return -1;
    page_say(opening, VERDICT_why, "%s.", head);
    return page_say(opening, VERDICT_who,
                    "Most of the run's bytes of this kind are held by %s (%s).", row->blamed->label,
                    BYTES_TEXT(row->bytes));
}

static int say_largest(struct opening *opening, const struct study *study,
                       const struct departure *departure, const char *head, struct sites *sites,
                       const struct teller *teller, struct err *err)
{
    struct site_row *rows = NULL;
    struct blame blame;
    keep_category(sites, departure->category);
    if (!sites->count)
        return page_say(opening, VERDICT_why, "%s; the run has none at its peak.", head);
    if (site_rows_blame(&blame, study->symbols, sites, err))
        return -1;
    const int status = site_rows_of(&rows, &study->history, sites, &blame, err) < 0
                           ? -1
                           : say_held_site(opening, &rows[0], head, teller, err);
    free(rows);
    blame_release(&blame);
    return status;
}

/* --- the sentence --- */

/* Returns the largest departure. Skips a difference of moments, because it gives no reason. */
static const struct departure *largest_of(const struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->departure_count; i++)
        if (comparison->departures[i].kind != DEPARTURE_moment)
            return &comparison->departures[i];
    return NULL;
}

static void describe(char *head, size_t bytes, const struct comparison *comparison,
                     const struct departure *departure, const struct estimate *estimate)
{
    const char *measured = comparison->measured_phase;
    snprintf(head, bytes, "Largest departure: %s, %s %s%s%s (estimated for %s)",
             name_of(comparison, departure), BYTES_TEXT((uint64_t)llabs(departure->bytes)),
             words_of(departure), measured ? " in " : "", measured ? measured : "",
             MOMENT_TEXT(estimate, comparison->departure_moment));
}

int page_departure_say(struct opening *opening, const struct study *study, uint32_t account,
                       const struct comparison *comparison, const struct estimate *estimate,
                       departure_told *tell, void *told, struct err *err)
{
    const struct teller teller = {tell, told};
    const struct departure *largest = largest_of(comparison);
    const uint64_t peak_index = study->history.accounts[account].peak.index;
    char head[MOMENT_TEXT_BYTES + 320];
    struct sites sites;
    if (!largest || peak_index == INDEX_NONE ||
        (double)llabs(largest->bytes) < DEPARTURE_RATIO * (double)comparison->live.measured_bytes)
        return 1;
    describe(head, sizeof head, comparison, largest, estimate);
    if (largest->kind == DEPARTURE_rounding)
        return page_say(opening, VERDICT_why, "%s.", head);
    if (sites_at(&sites, &study->categories, account, peak_index, err))
        return -1;
    const int status = say_largest(opening, study, largest, head, &sites, &teller, err);
    sites_release(&sites);
    return status;
}

/* --- the table --- */

void page_departures(struct doc *doc, const struct comparison *comparison)
{
    doc_list_begin(doc, "departures", "From the estimated peak to the run's, by name");
    for (size_t i = 0; i < comparison->departure_count; i++) {
        const struct departure *departure = &comparison->departures[i];
        doc_row_begin(doc);
        doc_text(doc, "name", "Name", key_of(departure));
        doc_words(doc, "%s", name_of(comparison, departure));
        doc_integer(doc, "bytes", "Bytes", DOC_DELTA, departure->bytes);
        doc_text(doc, "why", "Why", words_of(departure));
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

/* --- another model --- */

int page_another_say(struct opening *opening, const struct study *study, uint32_t account,
                     const struct comparison *comparison, const struct estimate *estimate,
                     struct err *err)
{
    enum { MODEL_NAME_CHARACTERS = 60 };
    struct likeness likeness;
    if (likeness_find(&likeness, study, account, comparison, estimate, err))
        return -1;
    if (!likeness.is_another)
        return 1;
    page_say(opening, VERDICT_what, "This does not look like a run of %s.",
             FIT_TEXT(page_model_name(estimate), MODEL_NAME_CHARACTERS));
    page_say(opening, VERDICT_why,
             "Of its %" PRIu64 " parameter tensors (%s) %" PRIu64
             " have a block of their size at the peak, and %s count as parameters there.",
             likeness.tensors_count, BYTES_TEXT(estimate->parameter_bytes), likeness.found_count,
             BYTES_TEXT(likeness.measured_bytes));
    return page_say(opening, VERDICT_do,
                    "Check that the model and the element type are the run's, and that no "
                    "parameters lie in shards.");
}
