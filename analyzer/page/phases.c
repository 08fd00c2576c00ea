/* SPDX-License-Identifier: MIT */
/* The page of `phases`, and its part: what each phase cost. */
#include "parts.h"

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

static void add_phase(struct doc *doc, const struct study *study, const struct stock *stock,
                      const struct phase_row *row)
{
    const struct history *history = &study->history;
    const char *path = study_path(study, row->path);

    page_layer(doc_detail(doc), study, stock, "Layer");
    doc_text(doc_detail(doc), "name", "Name", path ? history->paths[row->path].name : NULL);
    doc_text(doc, "path", "Phase", path);
    doc_words(doc, "%s", path ? path : PAGE_OUTSIDE);
    doc_text(doc_detail(doc), "source", "Source", source_text(history, row->path));
    doc_count(doc, "count", "Count", row->count);
    doc_bytes(doc, "entry_bytes", "At entry", row->entry_bytes);
    doc_bytes(doc, "peak_bytes", "Peak", row->peak_bytes);
    doc_bytes(doc, "allocated_bytes", "Allocated", row->allocated_bytes);
    doc_bytes(doc, "freed_bytes", "Freed", row->freed_bytes);
    doc_bytes(doc, "kept_bytes", "Kept", row->kept_bytes);
}

static int compare_allocated_bytes(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return (*a < *b) - (*a > *b);
}

/* What a phase must have allocated to be among the `most` largest. */
static int find_threshold(const struct phase_rows *phases, size_t most, uint64_t *bytes,
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
        all[i] = phases->items[i].allocated_bytes;
    qsort(all, phases->count, sizeof *all, compare_allocated_bytes);
    *bytes = all[most - 1];
    free(all);
    return 0;
}

/* A summary has `most` rows of the leading stock, those that allocated most. */
static int add_phases_of_stock(struct doc *doc, const struct study *study, uint32_t number,
                               bool is_leading, size_t most, struct err *err)
{
    const struct phase_rows phases = phases_of(&study->phases, number);
    uint64_t threshold_bytes;
    size_t shown_count = 0;

    const int status = find_threshold(&phases, most, &threshold_bytes, err);
    for (size_t i = 0; i < phases.count && !status; i++) {
        const bool is_shown =
            is_leading && shown_count < most && phases.items[i].allocated_bytes >= threshold_bytes;

        doc_row_begin(doc_detail_if(doc, !is_shown));
        add_phase(doc, study, &study->history.stocks[number], &phases.items[i]);
        doc_row_end(doc);
        shown_count += is_shown;
    }
    if (is_leading && !status && shown_count < phases.count)
        doc_note(doc, "%zu more: see 'gpumemtrace phases'.", phases.count - shown_count);
    return status;
}

static int add_phase_list(struct doc *doc, const struct study *study, const struct device_use *use,
                          const struct view *view, size_t most, struct err *err)
{
    const bool has_phases = study->history.path_count > 0;
    struct page_stocks stocks;

    page_stocks_find(&stocks, doc, study, use, view);
    doc_list_begin(doc_detail_if(doc, !has_phases), "phases", "Phases");
    for (size_t i = 0; i < stocks.count && doc_takes(doc, DOC_BOTH); i++)
        if (add_phases_of_stock(doc, study, stocks.numbers[i], i == 0, most, err))
            return -1;
    doc_list_end(doc);
    return 0;
}

int page_all_phases(struct doc *doc, const struct study *study, const struct device_use *use,
                    const struct view *view, struct err *err)
{
    return add_phase_list(doc, study, use, view, SIZE_MAX, err);
}

int page_main_phases(struct doc *doc, const struct study *study, const struct device_use *use,
                     const struct view *view, struct err *err)
{
    enum { MAIN_PHASES = 15 };

    return add_phase_list(doc, study, use, view, MAIN_PHASES, err);
}

/* Saying nothing would look like a phase that cost nothing. */
static int add_phases_tail(struct doc *doc, const struct study *study, const struct view *view,
                           struct err *err)
{
    if (!study->history.path_count)
        doc_note(doc, "The program named no phases; NVTX ranges and gpumemtrace_push name them.");
    return page_warnings(doc, study, view, err);
}

const struct page page_phases = {.schema = "gpumemtrace.phases/1",
                                 .needs = STUDY_NEEDS_phases,
                                 .device = page_all_phases,
                                 .tail = add_phases_tail};
