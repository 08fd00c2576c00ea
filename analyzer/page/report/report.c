/* SPDX-License-Identifier: MIT */
/* The page of `report`: parts of the other pages. */
#include "analyzer/page/diff/balance.h"
#include "analyzer/page/parts.h"

/* Says what memory the run needed: what was reserved in excess, if anything, and what was live. */
static int answer_need(struct opening *opening, const struct study *study, const struct view *view,
                       struct err *err)
{
    const int excess = page_excess_answer(opening, study, view, err);
    if (excess < 0 || page_peak_answer(opening, study, view, err) < 0 ||
        page_beside_answer(opening, study, view, err) < 0 ||
        page_leaks_below_peak(opening, study, view, err) < 0)
        return -1;
    if (excess)
        page_next(opening, "frag");
    return 1;
}

/* Says a leak, and then what was reserved in excess, because the one does not follow from the
 * other. */
static int answer_leaks(struct opening *opening, const struct study *study, const struct view *view,
                        struct err *err)
{
    const int status = page_leaks_answer(opening, study, view, err);
    return status > 0 && page_excess_answer(opening, study, view, err) < 0 ? -1 : status;
}

/* Opens the page with the worst finding: the first of these answers that says something. */
static int answer_report(struct opening *opening, const struct study *study,
                         const struct view *view, struct err *err)
{
    static page_answer *const answers[] = {page_oom_answer, page_full_card_answer, answer_leaks,
                                           answer_need};
    int status = 0;
    for (size_t i = 0; i < sizeof answers / sizeof *answers && !status; i++)
        status = answers[i](opening, study, view, err);
    if (status < 0 || balance_answer(opening, study, view, err) < 0 ||
        page_needs_answer(opening, study, view, err) < 0)
        return -1;
    return status;
}

/* Adds the fragmentation of the leading layer at its peak, no matter which layer and moment the
 * user asked for. */
static int add_peak_fragmentation(struct doc *doc, const struct study *study,
                                  const struct device_use *use, const struct view *view,
                                  struct err *err)
{
    struct view at_peak = *view;
    at_peak.layer = LAYER_none;
    at_peak.at = NULL;
    if (page_fragmentation_note(doc, study, use, view, err))
        return -1;
    if (!doc_takes(doc, DOC_DETAIL))
        return 0;
    return page_fragmentation(doc_detail(doc), study, use, &at_peak, err);
}

static int add_report_of_device(struct doc *doc, const struct study *study,
                                const struct device_use *use, const struct view *view,
                                struct err *err)
{
    return page_counters(doc, study, use, view, err) ||
                   page_ledger_note(doc, study, use, view, err) ||
                   add_peak_fragmentation(doc, study, use, view, err) ||
                   page_main_phases(doc, study, use, view, err) ||
                   page_sites_at_peak(doc, study, use, view, err) ||
                   page_growth(doc, study, use, view, err)
               ? -1
               : 0;
}

static int add_report_tail(struct doc *doc, const struct study *study, const struct view *view,
                           struct err *err)
{
    if (balance_add(doc, study, view, err) || page_last_failure(doc, study, view, err) ||
        page_remedies(doc, study, view, err))
        return -1;
    if (page_ledgers(doc_detail(doc), study, view, err) ||
        page_host_memory(doc, study, view, err) ||
        page_leaks_of_all(doc_detail(doc), study, view, err) || page_series(doc, study, view, err))
        return -1;
    return page_warnings(doc, study, view, err);
}

const struct page page_report = {.schema = "gpumemtrace.report/1",
                                 .needs = STUDY_NEEDS_phases | STUDY_NEEDS_growth |
                                          STUDY_NEEDS_steps | STUDY_NEEDS_holders,
                                 .advises = true,
                                 .ask = page_series_ask,
                                 .answer = answer_report,
                                 .device = add_report_of_device,
                                 .tail = add_report_tail};
