/* SPDX-License-Identifier: MIT */
/* `gpumemtrace peak`: who held the memory at the peak or another moment, by stack, phase, category.
 */
#include "analyzer/command.h"
#include "answer.h"

#include "analyzer/analysis/moment.h"
#include "analyzer/analysis/sites.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"

/* One row per layer: the moment and what was live then. */
static void add_moment(struct doc *doc, const struct study *study, const struct view *view,
                       const struct stock *stock, const struct sites *sites, uint32_t index)
{
    bool people = view->people;

    doc_row_begin(doc);
    docs_layer(doc, study, view, stock);
    doc_text(doc, "at", NULL, view->at ? view->at : "peak");
    if (index == HISTORY_NONE) {
        doc_null(doc, "time_ns", people ? "At" : NULL, DOC_NS);
        doc_null(doc, "seq", people ? "Event" : NULL, DOC_COUNT);
    } else {
        doc_integer(doc, "time_ns", people ? "At" : NULL, DOC_NS,
                    (int64_t)study_time_ns(study, index));
        doc_count(doc, "seq", people ? "Event" : NULL, study->trace.events[index].seq);
    }
    doc_bytes(doc, "live_bytes", people ? "Live" : NULL, sites->total_bytes);
    doc_count(doc, "blocks", people ? "Blocks" : NULL, sites->total_count);
    doc_row_end(doc);
}

static int by_bytes(const void *left, const void *right)
{
    const struct site *a = left, *b = right;

    return (a->bytes < b->bytes) - (a->bytes > b->bytes);
}

/* Sums by one column of the sites. */
static void add_sum(struct doc *doc, const struct study *study, const struct view *view,
                    const struct stock *stock, const char *key, const char *label, const char *name,
                    const struct site *sum)
{
    bool people = view->people;

    doc_row_begin(doc);
    if (!people)
        docs_layer(doc, study, view, stock);
    doc_text(doc, key, people ? label : NULL, name || !people ? name : "(outside any)");
    doc_bytes(doc, "bytes", people ? "Bytes" : NULL, sum->bytes);
    doc_count(doc, "count", people ? "Blocks" : NULL, sum->count);
    doc_row_end(doc);
}

static void add_categories(struct doc *doc, const struct study *study, const struct view *view,
                           const struct stock *stock, const struct sites *sites)
{
    struct site sums[CATEGORY_COUNT] = {0};

    for (size_t i = 0; i < sites->count; i++) {
        struct site *sum = &sums[sites->items[i].category];

        sum->category = sites->items[i].category;
        sum->bytes += sites->items[i].bytes;
        sum->count += sites->items[i].count;
    }
    qsort(sums, CATEGORY_COUNT, sizeof *sums, by_bytes);
    for (int i = 0; i < CATEGORY_COUNT; i++)
        if (sums[i].count)
            add_sum(doc, study, view, stock, "category", "Category",
                    view->people ? category_title(sums[i].category)
                                 : category_key(sums[i].category),
                    &sums[i]);
}

static int add_paths(struct doc *doc, const struct study *study, const struct view *view,
                     const struct stock *stock, const struct sites *sites, struct err *err)
{
    size_t paths = study->history.path_count;
    struct site *sums = array_new(paths + 1, sizeof *sums, err);

    if (!sums)
        return -1;
    for (size_t i = 0; i < sites->count; i++) {
        uint32_t path = sites->items[i].path;
        struct site *sum = &sums[path == HISTORY_NONE ? paths : path];

        sum->path = path;
        sum->bytes += sites->items[i].bytes;
        sum->count += sites->items[i].count;
    }
    qsort(sums, paths + 1, sizeof *sums, by_bytes);
    for (size_t i = 0; i <= paths && sums[i].count; i++)
        add_sum(doc, study, view, stock, "phase", "Phase of birth", study_path(study, sums[i].path),
                &sums[i]);
    free(sums);
    return 0;
}

enum part { PART_MOMENTS, PART_CATEGORIES, PART_PATHS };

static const struct {
    const char *key, *heading;
} parts[] = {
    [PART_MOMENTS] = {"moments", NULL},
    [PART_CATEGORIES] = {"categories", "By category"},
    [PART_PATHS] = {"phases_of_birth", "By phase"},
};

static int add_part(struct doc *doc, const struct study *study, const struct view *view,
                    enum part part, const struct site_list *list, struct err *err)
{
    int status = 0;

    doc_list_begin(doc, parts[part].key, view->people ? parts[part].heading : NULL);
    for (size_t i = 0; i < list->count && !status; i++) {
        const struct stock *stock = &study->history.stocks[list->stocks[i]];
        struct sites sites = {0};

        if (list->indices[i] != HISTORY_NONE &&
            sites_at(&sites, &study->categories, list->stocks[i], list->indices[i], err))
            return -1;
        if (part == PART_MOMENTS)
            add_moment(doc, study, view, stock, &sites, list->indices[i]);
        else if (part == PART_CATEGORIES)
            add_categories(doc, study, view, stock, &sites);
        else
            status = add_paths(doc, study, view, stock, &sites, err);
        sites_release(&sites);
    }
    doc_list_end(doc);
    return status;
}

static int add_device(struct doc *doc, const struct study *study, const struct device_use *use,
                      const struct view *view, struct err *err)
{
    uint32_t stocks[STUDY_STOCKS_MAX], indices[STUDY_STOCKS_MAX];
    struct site_list list = {.key = "sites",
                             .heading = "By call stack",
                             .stocks = stocks,
                             .indices = indices,
                             .frames = DOCS_WHOLE_STACK};

    list.count = study_stocks(study, use, view, stocks, view->people ? 1 : STUDY_STOCKS_MAX);
    for (size_t i = 0; i < list.count; i++)
        if (moment_find(view->at, &study->history, stocks[i], &indices[i], err))
            return -1;
    return add_part(doc, study, view, PART_MOMENTS, &list, err) ||
                   add_part(doc, study, view, PART_CATEGORIES, &list, err) ||
                   add_part(doc, study, view, PART_PATHS, &list, err) ||
                   docs_sites(doc, study, view, &list, err)
               ? -1
               : 0;
}

int command_peak(int argc, char **argv, struct err *err)
{
    static const struct answer answer = {
        .schema = "gpumemtrace.peak/1", .device = add_device, .tail = docs_warnings};

    return answer_command(&answer, argc, argv, err);
}
