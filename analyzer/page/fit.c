/* SPDX-License-Identifier: MIT */
/* The page of `fit`: the smallest card, MIG slice and memory fraction that run the program. It also
 * says whether the next smaller card runs the program. */
#include "analyzer/whatif/fit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "analyzer/render/units.h"
#include "analyzer/whatif/cards.h"
#include "parts.h"
#include "whatif.h"

static const struct fit_device *find_fit(const struct fit *fit, int device)
{
    for (size_t i = 0; i < fit->count; i++)
        if (fit->items[i].device == device)
            return &fit->items[i];
    return NULL;
}

static bool is_known(const struct fit_device *fit)
{
    return fit->difference.kind == DIFFERENCE_NONE;
}

/* Returns the name of the card, or NULL if there is no card. */
static const char *name_of(const struct card *card)
{
    return card ? card->name : NULL;
}

/* --- the answer --- */

static void say_card(struct opening *opening, const struct fit_device *fit)
{
    const char *card = name_of(card_for(fit->card_bytes));
    const char *slice = name_of(mig_slice_for(fit->card_bytes));
    page_say(opening, VERDICT_what, "The run on %s needs a card of %s%s%s.",
             DEVICE_TEXT(fit->device), fit->is_least ? "at least " : "",
             BYTES_TEXT(fit->card_bytes), fit->has_pool ? " without retries" : "");
    if (!fit->has_pool)
        page_say(opening, VERDICT_why, "That is the driver's memory at its peak, and the context.");
    page_say(opening, VERDICT_do, "Smallest known card: %s; smallest known MIG slice: %s.",
             card ? card : "none", slice ? slice : "none");
}

static void say_smaller(struct opening *opening, const struct fit_device *fit)
{
    const char *bytes = BYTES_TEXT(fit->smaller->bytes);
    if (fit->smaller_fits)
        page_say(opening, VERDICT_why,
                 "The next smaller card known here, %s (%s), would run it with %" PRIu64
                 " retr%s, before which PyTorch flushes its cache.",
                 fit->smaller->name, bytes, fit->retry_count, fit->retry_count == 1 ? "y" : "ies");
    else
        page_say(opening, VERDICT_why,
                 "The next smaller card known here, %s (%s), would not run it, because a request "
                 "would fail even with retries.",
                 fit->smaller->name, bytes);
}

static void say_fit(struct opening *opening, const struct fit_device *fit)
{
    char words[PAGE_DIFFERENCE_BYTES];
    if (!is_known(fit)) {
        page_say(opening, VERDICT_what,
                 "The need of %s is not known: the model of PyTorch's allocator differs.",
                 DEVICE_TEXT(fit->device));
        page_say(opening, VERDICT_why, "At event %" PRIu64 " %s.", fit->difference.seq,
                 page_difference(&fit->difference, words));
        return;
    }
    say_card(opening, fit);
    if (fit->smaller)
        say_smaller(opening, fit);
    if (fit->has_pool && fit->fraction > 0)
        page_say(opening, VERDICT_why,
                 "PyTorch's pool is limited to a share of %.4g of any card, as in the run (memory "
                 "fraction).",
                 fit->fraction);
}

static int answer_fit(struct opening *opening, const struct study *study, const struct view *view,
                      struct err *err)
{
    const struct fit *fit = &study->fit;
    (void)err;
    for (size_t i = 0; i < fit->count; i++)
        if (view->device < 0 || fit->items[i].device == view->device)
            say_fit(opening, &fit->items[i]);
    if (!fit->count)
        page_say(opening, VERDICT_what,
                 history_is_imported(&study->history)
                     ? "The memory that the driver gave is not known, so no card can be named."
                     : "No device memory was allocated.");
    return 1;
}

/* --- the table --- */

/* Returns the fraction, rounded up to the printed digits. PyTorch computes the limit from the
 * fraction, and a limit that is one byte too small refuses the segment. */
static double fraction_of(uint64_t pool_bytes, uint64_t total_bytes)
{
    return ceil((double)pool_bytes / (double)total_bytes * 1e6) / 1e6;
}

/* Adds the memory fraction. total_bytes is the size that the fraction refers to; if it is 0, no
 * fraction is shown. */
static void add_fraction(struct doc *doc, uint64_t pool_bytes, uint64_t total_bytes)
{
    const bool known = pool_bytes && total_bytes && pool_bytes <= total_bytes;
    const double fraction = known ? fraction_of(pool_bytes, total_bytes) : 0;
    char digits[16];
    doc_known_ratio(doc_detail(doc), "memory_fraction", "Memory fraction", known, fraction);
    snprintf(digits, sizeof digits, "%.6f", fraction);
    doc_text(doc_summary(doc), NULL, "Memory fraction", known ? digits : NULL);
}

static void add_without_retries(struct doc *doc, const struct fit_device *fit, uint64_t total_bytes)
{
    const bool known = is_known(fit) && fit->card_bytes;
    doc_row_begin(doc);
    doc_text(doc, "retries", "Retries", "none");
    doc_known_bytes(doc, "card_bytes", "Card", known, fit->card_bytes);
    doc_text(doc, "card", "Known card", known ? name_of(card_for(fit->card_bytes)) : NULL);
    doc_text(doc, "mig_slice", "MIG slice", known ? name_of(mig_slice_for(fit->card_bytes)) : NULL);
    doc_known_bytes(doc, "pool_bytes", "Pool", known && fit->has_pool, fit->pool_bytes);
    add_fraction(doc, known ? fit->pool_bytes : 0, total_bytes);
    doc_known_bool(doc, "fits", "Fits", known, true);
    doc_known_count(doc_spare(doc), "retry_count", "Times retried", known && fit->has_pool, 0);
    doc_row_end(doc);
}

static void add_smaller(struct doc *doc, const struct fit_device *fit)
{
    doc_row_begin(doc);
    doc_text(doc, "retries", "Retries", "allowed");
    doc_bytes(doc, "card_bytes", "Card", fit->smaller->bytes);
    doc_text(doc, "card", "Known card", fit->smaller->name);
    doc_text(doc, "mig_slice", "MIG slice", NULL);
    doc_null(doc, "pool_bytes", "Pool", DOC_BYTES);
    add_fraction(doc, 0, 0);
    doc_bool(doc, "fits", "Fits", fit->smaller_fits);
    doc_known_count(doc_spare(doc), "retry_count", "Times retried", fit->smaller_fits,
                    fit->retry_count);
    doc_row_end(doc);
}

static int add_fit(struct doc *doc, const struct study *study, const struct device_use *use,
                   const struct view *view, struct err *err)
{
    const struct fit_device *fit = find_fit(&study->fit, use->device);
    (void)view;
    (void)err;
    if (!fit) {
        doc_null(doc, "fit", "Fit", DOC_TEXT);
        return 0;
    }
    doc_known_bytes(doc, "context_bytes", "context and other processes", fit->total_bytes != 0,
                    fit->context_bytes);
    doc_bool(doc_detail(doc), "at_least", "at least", fit->is_least);
    doc_known_count(doc_detail(doc), "differs_at_seq", "first difference", !is_known(fit),
                    fit->difference.seq);
    doc_list_begin(doc, "fit", "Cards");
    const uint64_t total_bytes = study_has_no_limit(study) ? 0 : fit->total_bytes;
    add_without_retries(doc, fit, total_bytes);
    if (fit->smaller)
        add_smaller(doc, fit);
    doc_list_end(doc);
    if (is_known(fit))
        doc_note(doc, "'Card' is the sum of the largest context and other processes seen, the "
                      "process's other memory, and the pool. A known card is chosen by the memory "
                      "that it shows to programs according to published outputs (gpumemtrace help "
                      "cards), with 2 %% to spare for other versions of the driver.");
    if (fit->smaller)
        doc_note(doc, "The row with retries is the next smaller card with all its memory; the "
                      "choice without retries leaves 2 %% of it unused.");
    return 0;
}

static void ask_fit(struct study_ask *ask, const struct view *view, const struct doc *doc)
{
    (void)view;
    (void)doc;
    ask->whatifs = &fit_whatif;
    ask->whatif_count = 1;
}

const struct page page_fit = {.takes_each = true,
                              .schema = "gpumemtrace.fit/1",
                              .ask = ask_fit,
                              .answer = answer_fit,
                              .device = add_fit,
                              .tail = page_warnings};
