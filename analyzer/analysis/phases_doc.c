/* SPDX-License-Identifier: MIT */
/* Phases, and warnings, as a document. */
#include "analysis/docs.h"

#include "analysis/phases.h"

static const char *source_text(const struct history *history, uint32_t path)
{
    static const char *const texts[] = {[PHASE_SOURCE_API] = "api",
                                        [PHASE_SOURCE_NVTX] = "nvtx",
                                        [PHASE_SOURCE_INFERRED] = "inferred"};

    return path == HISTORY_NONE ? NULL : texts[history->paths[path].source];
}

static void add_row(struct doc *doc, const struct study *study, const struct view *view,
                    const struct stock *stock, const struct phase_row *row)
{
    const struct history *history = &study->history;
    const char *path = study_path(study, row->path);
    bool people = view->people;

    doc_row_begin(doc);
    if (people) {
        doc_text(doc, NULL, "Phase", path ? path : "(outside any)");
    } else {
        docs_layer(doc, study, view, stock);
        doc_text(doc, "name", NULL,
                 path ? trace_string(&study->trace, history->paths[row->path].name) : NULL);
        doc_text(doc, "path", NULL, path);
        doc_text(doc, "source", NULL, source_text(history, row->path));
    }
    doc_count(doc, "count", people ? "Count" : NULL, row->count);
    doc_bytes(doc, "entry_bytes", people ? "At entry" : NULL, row->entry_bytes);
    doc_bytes(doc, "peak_bytes", people ? "Peak" : NULL, row->peak_bytes);
    doc_bytes(doc, "allocated_bytes", people ? "Allocated" : NULL, row->allocated_bytes);
    doc_bytes(doc, "freed_bytes", people ? "Freed" : NULL, row->freed_bytes);
    doc_bytes(doc, "kept_bytes", people ? "Kept" : NULL, row->kept_bytes);
    doc_row_end(doc);
}

static int add_stock(struct doc *doc, const struct study *study, const struct view *view,
                     uint32_t number, struct err *err)
{
    struct phases phases;

    if (phases_of(&phases, &study->history, number, err))
        return -1;
    for (size_t i = 0; i < phases.count; i++)
        add_row(doc, study, view, &study->history.stocks[number], &phases.rows[i]);
    phases_release(&phases);
    return 0;
}

int docs_phases(struct doc *doc, const struct study *study, const struct device_use *use,
                const struct view *view, struct err *err)
{
    uint32_t stocks[STUDY_STOCKS_MAX];
    size_t count = study_stocks(study, use, view, stocks, view->people ? 1 : STUDY_STOCKS_MAX);

    if (view->people && !study->history.path_count)
        return 0;
    doc_list_begin(doc, "phases", view->people ? "Phases" : NULL);
    for (size_t i = 0; i < count; i++)
        if (add_stock(doc, study, view, stocks[i], err))
            return -1;
    doc_list_end(doc);
    return 0;
}

int docs_warnings(struct doc *doc, const struct study *study, const struct view *view,
                  struct err *err)
{
    struct text_list warnings;

    if (study_warnings(study, &warnings, err))
        return -1;
    if (!view->people || warnings.count) {
        doc_list_begin(doc, "warnings", view->people ? "Warnings" : NULL);
        for (size_t i = 0; i < warnings.count; i++)
            doc_text(doc, "warning", "", warnings.items[i]);
        doc_list_end(doc);
    }
    text_list_release(&warnings);
    return 0;
}
