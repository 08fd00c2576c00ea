/* SPDX-License-Identifier: MIT */
/* Phases, and warnings, as a document. */
#include "docs.h"

#include <stdlib.h>

#include "analyzer/analysis/phases.h"
#include "analyzer/util/array.h"

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
        doc_text(doc, "name", NULL, path ? history->paths[row->path].name : NULL);
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

static int compare_bytes(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return (*a < *b) - (*a > *b);
}

/* What a phase must have allocated to be among the `most` largest. */
static int find_threshold(const struct phases *phases, size_t most, uint64_t *bytes,
                          struct err *err)
{
    uint64_t *all;

    *bytes = 0;
    if (phases->count <= most)
        return 0;
    all = array_new(phases->count, sizeof *all, err);
    if (!all)
        return -1;
    for (size_t i = 0; i < phases->count; i++)
        all[i] = phases->rows[i].allocated_bytes;
    qsort(all, phases->count, sizeof *all, compare_bytes);
    *bytes = all[most - 1];
    free(all);
    return 0;
}

static int add_stock(struct doc *doc, const struct study *study, const struct view *view,
                     uint32_t number, size_t most, struct err *err)
{
    struct phases phases;
    uint64_t threshold_bytes;
    size_t shown = 0;
    int status;

    if (phases_of(&phases, &study->history, number, err))
        return -1;
    status = find_threshold(&phases, most, &threshold_bytes, err);
    for (size_t i = 0; i < phases.count && !status && shown < most; i++) {
        if (phases.rows[i].allocated_bytes < threshold_bytes)
            continue;
        add_row(doc, study, view, &study->history.stocks[number], &phases.rows[i]);
        shown++;
    }
    if (!status && shown < phases.count)
        doc_note(doc, "%zu more: see 'gpumemtrace phases'.", phases.count - shown);
    phases_release(&phases);
    return status;
}

static int add_list(struct doc *doc, const struct study *study, const struct device_use *use,
                    const struct view *view, size_t most, struct err *err)
{
    uint32_t stocks[STUDY_STOCKS_MAX];
    size_t count = study_stocks(study, use, view, stocks, view->people ? 1 : STUDY_STOCKS_MAX);

    if (view->people && !study->history.path_count)
        return 0;
    doc_list_begin(doc, "phases", view->people ? "Phases" : NULL);
    for (size_t i = 0; i < count; i++)
        if (add_stock(doc, study, view, stocks[i], most, err))
            return -1;
    doc_list_end(doc);
    return 0;
}

int docs_phases(struct doc *doc, const struct study *study, const struct device_use *use,
                const struct view *view, struct err *err)
{
    return add_list(doc, study, use, view, SIZE_MAX, err);
}

int docs_main_phases(struct doc *doc, const struct study *study, const struct device_use *use,
                     const struct view *view, struct err *err)
{
    enum { PAGE_ROWS = 15 };

    return add_list(doc, study, use, view, view->people ? PAGE_ROWS : SIZE_MAX, err);
}

int docs_warnings(struct doc *doc, const struct study *study, const struct view *view,
                  struct err *err)
{
    const char *dry_run = view->people ? NULL : study_dry_run(study);
    struct text_list warnings;

    if (study_warnings(study, &warnings, err))
        return -1;
    if (!view->people || warnings.count) {
        doc_list_begin(doc, "warnings", view->people ? "Warnings" : NULL);
        for (size_t i = 0; i < warnings.count; i++)
            doc_text(doc, "warning", "", warnings.items[i]);
        if (dry_run)
            doc_text(doc, "warning", "", dry_run);
        doc_list_end(doc);
    }
    text_list_release(&warnings);
    return 0;
}
