/* SPDX-License-Identifier: MIT */
/* The page of `report`: everything in one place. */
#include "parts.h"

#include "analyzer/render/units.h"

/* What peaked on one device, when, in which phase. */
static void add_report_sentence(struct doc *doc, const struct study *study,
                                const struct device_use *use)
{
    const struct history *history = &study->history;
    const struct stock *stock = &history->stocks[use->leading];
    char device[STUDY_DEVICE_BYTES], name[PAGE_LAYER_BYTES];
    char size[UNITS_TEXT_BYTES], time[UNITS_TEXT_BYTES];
    const char *path = study_path(study, stock->peak_path);

    study_device_name(use->device, device);
    if (stock->peak.index == INDEX_NONE) {
        doc_note(doc, "On %s no GPU memory was allocated.", device);
        return;
    }
    doc_note(doc, "On %s the %s peaked at %s, %s after the start%s%s.", device,
             page_layer_name(study, stock, name), units_bytes(size, stock->peak_bytes),
             units_duration(time, (int64_t)stock->peak.time_ns), path ? ", in phase " : "",
             path ? path : "");
}

static int add_report_head(struct doc *doc, const struct study *study, const struct view *view,
                           struct err *err)
{
    const struct history *history = &study->history;

    (void)err;
    for (size_t i = 0; i < history->device_count; i++)
        if (view->device < 0 || history->devices[i].device == view->device)
            add_report_sentence(doc, study, &history->devices[i]);
    if (!history->device_count)
        doc_note(doc, "No device was used.");
    return 0;
}

/* The leading layer at its peak, whatever was asked for. */
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
    if (page_last_failure(doc, study, view, err))
        return -1;
    doc_null(doc_detail(doc), "ledger", "Ledger", DOC_TEXT);
    if (page_leaks_of_all(doc_detail(doc), study, view, err))
        return -1;
    return page_warnings(doc, study, view, err);
}

const struct page page_report = {.schema = "gpumemtrace.report/1",
                                 .needs = STUDY_NEEDS_phases | STUDY_NEEDS_growth,
                                 .head = add_report_head,
                                 .device = add_report_of_device,
                                 .tail = add_report_tail};
