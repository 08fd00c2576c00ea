/* SPDX-License-Identifier: MIT */
/*
 * Adds "series" to a page: memory over time and snapshots, in columns, for readers that draw them.
 */
#include "analyzer/page/parts.h"
#include "analyzer/page/series_parts.h"
#include "stack_tree.h"

#include <stdlib.h>

/* The document that is being written, and its figures. */
struct writer {
    struct doc *doc;
    const struct study *study;
    const struct series *series;
    struct stack_tree tree;
    struct err *err;
};

/* --- points --- */

static void add_points(const struct writer *writer, uint32_t account)
{
    const struct timelines *timelines = &writer->study->timelines;
    struct series_columns columns;
    size_t count = 0;
    series_add_points(&columns, writer->doc,
                      writer->series->by_category.accounts[account].moment_count);
    for (size_t i = 0; i < 2 * timelines->used; i++) {
        const struct timeline_cut *cut = timelines_point(timelines, account, i);
        if (!cut)
            continue;
        const int64_t point[SERIES_COLUMNS] = {
            [SERIES_SEQ] = (int64_t)cut->seq,
            [SERIES_TIME] = (int64_t)cut->time_ns,
            [SERIES_STEP] = cut->step ? (int64_t)cut->step : DOC_COLUMN_NULL,
            [SERIES_PHASE] = cut->path == HISTORY_NONE ? DOC_COLUMN_NULL : cut->path,
            [SERIES_LIVE] = (int64_t)cut->max_bytes,
            [SERIES_LOWEST] = (int64_t)cut->min_bytes};
        series_set_point(&columns, count++, point);
    }
}

/* --- sums --- */

static void add_sums(const struct writer *writer, const struct breakdown *breakdown,
                     uint32_t account, size_t group)
{
    const struct account_breakdown *own = &breakdown->accounts[account];
    int64_t *values = doc_column(writer->doc, "bytes", DOC_BYTES, own->moment_count);
    for (size_t i = 0; values && i < own->moment_count; i++)
        values[i] = (int64_t)breakdown_bytes(breakdown, account, group, i);
}

static bool has_sums(const struct breakdown *breakdown, uint32_t account, size_t group)
{
    return breakdown->accounts[account].sums && breakdown->accounts[account].sums[group];
}

static void add_categories(const struct writer *writer, uint32_t account)
{
    struct doc *doc = writer->doc;
    doc_list_begin(doc, "categories", NULL);
    for (size_t i = 0; i < CATEGORY_COUNT; i++) {
        if (!has_sums(&writer->series->by_category, account, i))
            continue;
        doc_row_begin(doc);
        doc_text(doc, "category", "Category", category_key((enum category)i));
        add_sums(writer, &writer->series->by_category, account, i);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

static void add_phases(const struct writer *writer, uint32_t account)
{
    const struct series_groups *groups = &writer->series->accounts[account].phases;
    struct doc *doc = writer->doc;
    doc_list_begin(doc, "phases_of_birth", NULL);
    for (size_t i = 0; i <= SERIES_PHASES; i++) {
        if (!has_sums(&writer->series->by_phase, account, i))
            continue;
        doc_row_begin(doc);
        doc_bool(doc, "is_rest", "Rest", i == SERIES_PHASES);
        doc_text(doc, "phase", "Phase",
                 i == SERIES_PHASES ? NULL : study_path(writer->study, (uint32_t)groups->ids[i]));
        add_sums(writer, &writer->series->by_phase, account, i);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

static uint32_t add_stack(struct writer *writer, uint64_t site_id)
{
    return stack_tree_add(&writer->tree, writer->study->symbols, site_id, writer->err);
}

/* Adds stacks at points or at snapshots. The last group is the sum of all other stacks, and its
 * stack is null. */
static int add_stacks(struct writer *writer, const char *key, const struct breakdown *breakdown,
                      uint32_t account)
{
    const struct series_groups *groups = &writer->series->accounts[account].stacks;
    const size_t rest = breakdown->groups.count - 1;
    struct doc *doc = writer->doc;
    uint32_t number = 0;
    doc_list_begin(doc, key, NULL);
    for (size_t i = 0; i <= rest; i++) {
        if (!has_sums(breakdown, account, i))
            continue;
        if (i < rest && (number = add_stack(writer, groups->ids[i])) == UINT32_MAX)
            return -1;
        doc_row_begin(doc);
        doc_known_count(doc, "stack", "Stack", i < rest, number);
        add_sums(writer, breakdown, account, i);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    return 0;
}

/* --- the memory map --- */

enum block_column {
    BLOCK_ADDRESS,
    BLOCK_SIZE,
    BLOCK_STACK,
    BLOCK_CATEGORY,
    BLOCK_FIRST,
    BLOCK_END
};

static int64_t block_value(struct writer *writer, const struct block *block,
                           enum block_column column)
{
    switch (column) {
    case BLOCK_ADDRESS:
        return (int64_t)block->address;
    case BLOCK_SIZE:
        return (int64_t)block->size_bytes;
    case BLOCK_STACK:
        return add_stack(writer, block->site_id);
    case BLOCK_CATEGORY:
        return categories_of(&writer->study->categories, block);
    case BLOCK_FIRST:
        return (int64_t)series_snapshot_from(writer->series, block->life.begin_index);
    case BLOCK_END:
        break;
    }
    return (int64_t)series_snapshot_from(writer->series, block->life.end_index);
}

static int describe_blocks(struct writer *writer, const struct block *blocks, size_t count)
{
    static const struct {
        const char *key;
        enum doc_unit unit;
    } columns[] = {
        [BLOCK_ADDRESS] = {"address", DOC_ADDRESS},    [BLOCK_SIZE] = {"size_bytes", DOC_BYTES},
        [BLOCK_STACK] = {"stack", DOC_COUNT},          [BLOCK_CATEGORY] = {"category", DOC_COUNT},
        [BLOCK_FIRST] = {"first_snapshot", DOC_COUNT}, [BLOCK_END] = {"end_snapshot", DOC_COUNT}};

    doc_object_begin(writer->doc, "blocks", NULL);
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        int64_t *values = doc_column(writer->doc, columns[k].key, columns[k].unit, count);
        for (size_t i = 0; values && i < count; i++)
            if ((values[i] = block_value(writer, &blocks[i], (enum block_column)k)) == UINT32_MAX)
                return -1;
    }
    doc_object_end(writer->doc);
    return 0;
}

static int add_blocks(struct writer *writer, uint32_t account)
{
    struct block *blocks;
    size_t count;
    if (memory_map_blocks(&writer->series->map, account, &blocks, &count, writer->err))
        return -1;
    const int status = describe_blocks(writer, blocks, count);
    free(blocks);
    return status;
}

/* Says what each map leaves out of its layer. */
static void add_maps(const struct writer *writer, uint32_t account)
{
    const struct series *series = writer->series;
    struct doc *doc = writer->doc;
    doc_list_begin(doc, "maps", NULL);
    for (size_t i = 0; i < series->map_count; i++) {
        const struct map_blocks *blocks = memory_map_at(&series->map, account, i);
        doc_row_begin(doc);
        doc_count(doc, "snapshot", "Snapshot", series_snapshot(series, series->maps[i].index));
        doc_count(doc, "left_out_count", "Left out", blocks ? blocks->left_out_count : 0);
        doc_bytes(doc, "left_out_bytes", "Left out", blocks ? blocks->left_out_bytes : 0);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

/* Adds the segments as rows. A layer has so few segments that no columns are needed. */
static void add_segments(const struct writer *writer, uint32_t account)
{
    const struct memory_map *map = &writer->series->map;
    struct doc *doc = writer->doc;
    doc_list_begin(doc, "segments", NULL);
    for (size_t i = 0; i < map->segment_count; i++) {
        const struct map_segment *segment = &map->segments[i];
        if (segment->account != account)
            continue;
        doc_row_begin(doc);
        doc_integer(doc, "address", "Address", DOC_ADDRESS, (int64_t)segment->address);
        doc_bytes(doc, "size_bytes", "Size", segment->size_bytes);
        doc_bool(doc, "mapped", "Mapped", segment->is_mapped);
        doc_count(doc, "first_map", "From", segment->first);
        doc_count(doc, "end_map", "To", segment->end);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

/* --- a layer --- */

static int add_layer(struct writer *writer, uint32_t number)
{
    const struct account *account = &writer->study->history.accounts[number];
    struct doc *doc = writer->doc;
    doc_row_begin(doc);
    page_device_number(doc, "Device", account->device);
    doc_text(doc, "layer", "Layer", study_layer(account));
    doc_text(doc, "pool", "Pool", study_pool(writer->study, account));
    doc_bytes(doc, "peak_bytes", "Peak", account->peak_bytes);
    add_points(writer, number);
    add_categories(writer, number);
    add_phases(writer, number);
    if (add_stacks(writer, "lines", &writer->series->by_line, number) ||
        add_stacks(writer, "sites", &writer->series->by_stack, number) ||
        add_blocks(writer, number))
        return -1;
    add_maps(writer, number);
    add_segments(writer, number);
    doc_row_end(doc);
    return 0;
}

static int add_layers(struct writer *writer, const struct view *view)
{
    const struct history *history = &writer->study->history;
    uint32_t accounts[STUDY_ACCOUNTS_MAX];
    doc_list_begin(writer->doc, "layers", NULL);
    for (size_t i = 0; i < history->device_count; i++) {
        const struct device_use *use = &history->devices[i];
        if (view->device >= 0 && use->device != view->device)
            continue;
        const size_t count =
            study_accounts(writer->study, use, view, accounts, sizeof accounts / sizeof *accounts);
        for (size_t k = 0; k < count; k++)
            if (timelines_of(&writer->study->timelines, accounts[k]) &&
                add_layer(writer, accounts[k]))
                return -1;
    }
    doc_list_end(writer->doc);
    return 0;
}

/* --- all layers --- */

static void add_snapshots(const struct writer *writer)
{
    const struct series *series = writer->series;
    doc_object_begin(writer->doc, "snapshots", NULL);
    int64_t *seqs = doc_column(writer->doc, "seq", DOC_COUNT, series->snapshot_count);
    for (size_t i = 0; seqs && i < series->snapshot_count; i++)
        seqs[i] = (int64_t)series->snapshots[i].seq;
    int64_t *times = doc_column(writer->doc, "time_ns", DOC_NS, series->snapshot_count);
    for (size_t i = 0; times && i < series->snapshot_count; i++)
        times[i] = (int64_t)series->snapshots[i].time_ns;
    doc_object_end(writer->doc);
}

static void add_failures(const struct writer *writer)
{
    const struct history *history = &writer->study->history;
    struct doc *doc = writer->doc;
    doc_list_begin(doc, "failures", NULL);
    for (size_t i = 0; i < history->failure_count; i++) {
        const struct failure *failure = &history->failures[i];
        const size_t snapshot = series_snapshot(writer->series, failure->at.index);
        doc_row_begin(doc);
        doc_count(doc, "number", "Number", failure->number);
        page_device_number(doc, "Device", failure->event.device);
        doc_bytes(doc, "size_bytes", "Asked", failure->event.size_bytes);
        doc_count(doc, "seq", "Event", failure->at.seq);
        doc_integer(doc, "time_ns", "Time", DOC_NS, (int64_t)failure->at.time_ns);
        doc_known_count(doc, "snapshot", "Snapshot", snapshot != SIZE_MAX, snapshot);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

/* Adds the texts that the numbers in columns refer to. */
static void add_names(const struct writer *writer)
{
    const struct history *history = &writer->study->history;
    struct doc *doc = writer->doc;
    doc_list_begin(doc, "phases", NULL);
    for (size_t i = 0; i < history->path_count; i++) {
        doc_row_begin(doc);
        doc_text(doc, "phase", "Phase", history->paths[i].text);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    series_add_category_names(doc);
}

/* Asks for points that are evenly spaced over the events, because memory does not change between
 * events. */
void page_series_ask(struct study_ask *ask, const struct view *view, const struct doc *doc)
{
    (void)view;
    if (!doc_takes(doc, DOC_SERIES))
        return;
    ask->wants_series = true;
    /* needed to find steps that the program does not mark */
    ask->needs |= STUDY_NEEDS_steps | STUDY_NEEDS_growth;
    ask->timeline = (struct timeline_ask){.cut_count = SERIES_POINTS,
                                          .axis = TIMELINE_EVENT,
                                          .notes_steps = true,
                                          .keeps_lasts = true};
}

int page_series(struct doc *doc, const struct study *study, const struct view *view,
                struct err *err)
{
    struct writer writer = {.doc = doc, .study = study, .series = &study->series, .err = err};
    if (!doc_takes(doc, DOC_SERIES))
        return 0;
    doc_object_begin(doc_series(doc), "series", NULL);
    add_snapshots(&writer);
    add_failures(&writer);
    add_names(&writer);
    const int status =
        add_layers(&writer, view) || stack_tree_describe(doc, &writer.tree, study->symbols, err)
            ? -1
            : 0;
    stack_tree_release(&writer.tree);
    doc_object_end(doc);
    return status;
}
