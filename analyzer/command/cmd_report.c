/* SPDX-License-Identifier: MIT */
/* `gpumemtrace report`: everything on one page. */
#include "analyzer/command.h"
#include "answer.h"
#include "analyzer/render/units.h"

/* One sentence per device: what peaked, when, in which phase. */
static int add_headline(struct doc *doc, const struct study *study, const struct view *view,
                        struct err *err)
{
    const struct history *history = &study->history;

    (void)err;
    for (size_t i = 0; i < history->device_count; i++) {
        const struct device_use *use = &history->devices[i];
        const struct stock *stock = &history->stocks[use->leading];
        const struct block *block = history_birth_at(history, stock->peak_index);
        char device[STUDY_DEVICE_BYTES], name[DOCS_NAME_BYTES], size[UNITS_TEXT_BYTES],
            time[UNITS_TEXT_BYTES];
        uint32_t path = HISTORY_NONE;

        if (view->device >= 0 && use->device != view->device)
            continue;
        if (block && block->span != HISTORY_NONE)
            path = history->spans[block->span].path;
        units_bytes(size, stock->peak_bytes);
        units_duration(time, (int64_t)study_time_ns(study, stock->peak_index));
        docs_layer_name(study, stock, name);
        if (!block)
            doc_note(doc, "On %s no GPU memory was allocated.",
                     study_device_name(use->device, device));
        else
            doc_note(doc, "On %s the %s peaked at %s, %s after the start%s%s.",
                     study_device_name(use->device, device), name, size, time,
                     path == HISTORY_NONE ? "" : ", in phase ",
                     path == HISTORY_NONE ? "" : study_path(study, path));
    }
    if (!history->device_count)
        doc_note(doc, "No device was used.");
    return 0;
}

static int add_device(struct doc *doc, const struct study *study, const struct device_use *use,
                      const struct view *view, struct err *err)
{
    struct view at_peak = *view;

    at_peak.layer = LAYER_none;
    at_peak.at = NULL;
    if (docs_counters(doc, study, use, view, err))
        return -1;
    if (view->people ? docs_fragmentation_line(doc, study, use, view, err)
                     : docs_fragmentation(doc, study, use, &at_peak, err))
        return -1;
    if (docs_main_phases(doc, study, use, view, err) ||
        docs_sites_at_peak(doc, study, use, view, err))
        return -1;
    return view->people ? docs_growth(doc, study, use, view, err) : 0;
}

static int add_tail(struct doc *doc, const struct study *study, const struct view *view,
                    struct err *err)
{
    if (docs_last_oom(doc, study, view, err))
        return -1;
    if (!view->people) {
        doc_null(doc, "ledger", NULL, DOC_TEXT);
        if (docs_all_leaks(doc, study, view, err))
            return -1;
    }
    return docs_warnings(doc, study, view, err);
}

int command_report(int argc, char **argv, struct err *err)
{
    static const struct answer answer = {.schema = "gpumemtrace.report/1",
                                         .head = add_headline,
                                         .device = add_device,
                                         .tail = add_tail};

    return answer_command(&answer, argc, argv, err);
}
