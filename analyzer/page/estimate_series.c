/* SPDX-License-Identifier: MIT */
/*
 * The run of an estimate in the form of a trace's "series", so that the same readers can draw it. A
 * layer of the model stands for a call stack, whose frames are the parts of the layer's name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/category.h"
#include "series_parts.h"
#include "estimate_run.h"

enum { LINES = 15, SITES = 200, PARTS_MOST = 12, NODES_MOST = SITES * PARTS_MOST };

/* A part of a layer's name, as a node of one tree that contains all names. */
struct part {
    int64_t parent; /* DOC_COLUMN_NULL: it has no parent */
    char text[LAYER_NAME_BYTES];
};

struct writer {
    struct doc *doc;
    const struct estimate *estimate;
    const struct run_series *series;
    struct part *parts; /* room for NODES_MOST; each is written as a frame and as a node */
    size_t part_count;
    int64_t nodes[SITES]; /* by site: the node of its stack */
};

/* --- points --- */

static void add_points(const struct writer *writer)
{
    const struct run_series *series = writer->series;
    struct series_columns columns;
    series_add_points(&columns, writer->doc, series->count);
    for (size_t i = 0; i < series->count; i++) {
        const struct run_moment *moment = &series->moments[i];
        const int64_t point[SERIES_COLUMNS] = {[SERIES_SEQ] = (int64_t)moment->event,
                                               [SERIES_TIME] = DOC_COLUMN_NULL,
                                               [SERIES_STEP] = moment->step ? (int64_t)moment->step
                                                                            : DOC_COLUMN_NULL,
                                               [SERIES_PHASE] = moment->highest.phase,
                                               [SERIES_LIVE] = (int64_t)moment->highest.total_bytes,
                                               [SERIES_LOWEST] = (int64_t)moment->lowest_bytes};
        series_set_point(&columns, i, point);
    }
}

/* Each point is a snapshot. */
static void add_snapshots(const struct writer *writer)
{
    const struct run_series *series = writer->series;
    doc_object_begin(writer->doc, "snapshots", NULL);
    int64_t *events = doc_column(writer->doc, "seq", DOC_COUNT, series->count);
    for (size_t i = 0; events && i < series->count; i++)
        events[i] = (int64_t)series->moments[i].event;
    int64_t *times = doc_column(writer->doc, "time_ns", DOC_NS, series->count);
    for (size_t i = 0; times && i < series->count; i++)
        times[i] = DOC_COLUMN_NULL;
    doc_object_end(writer->doc);
}

/* --- sums --- */

static void add_categories(const struct writer *writer)
{
    const struct run_series *series = writer->series;
    struct doc *doc = writer->doc;
    doc_list_begin(doc, "categories", NULL);
    for (int k = 0; k < CATEGORY_COUNT; k++) {
        doc_row_begin(doc);
        doc_text(doc, "category", "Category", category_key((enum category)k));
        int64_t *values = doc_column(doc, "bytes", DOC_BYTES, series->count);
        for (size_t i = 0; values && i < series->count; i++)
            values[i] = (int64_t)series->moments[i].highest.category_bytes[k];
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

static void add_phases(const struct writer *writer)
{
    const struct run_series *series = writer->series;
    struct doc *doc = writer->doc;
    doc_list_begin(doc, "phases_of_birth", NULL);
    for (int k = 0; k < SCHEDULE_PHASES; k++) {
        doc_row_begin(doc);
        doc_bool(doc, "is_rest", "Rest", false);
        doc_text(doc, "phase", "Phase", schedule_phase_name((enum schedule_phase)k));
        int64_t *values = doc_column(doc, "bytes", DOC_BYTES, series->count);
        for (size_t i = 0; values && i < series->count; i++)
            values[i] = (int64_t)series->moments[i].phase_bytes[k];
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

/* Adds one row for each of the first `shown` sites, and one row for all other sites. A site and its
 * stack have the same number. */
static void add_sites(const struct writer *writer, const char *key, size_t shown)
{
    const struct run_series *series = writer->series;
    struct doc *doc = writer->doc;
    shown = shown < series->site_count ? shown : series->site_count;
    doc_list_begin(doc, key, NULL);
    for (size_t k = 0; k <= shown; k++) {
        doc_row_begin(doc);
        doc_known_count(doc, "stack", "Stack", k < shown, k);
        int64_t *values = doc_column(doc, "bytes", DOC_BYTES, series->count);
        for (size_t i = 0; values && i < series->count; i++) {
            values[i] = 0;
            for (size_t h = k; h < (k < shown ? k + 1 : series->site_count); h++)
                values[i] += (int64_t)series->sites[h].bytes[i];
        }
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

/* --- names --- */

static int64_t part_find(struct writer *writer, int64_t parent, const char *text, size_t length)
{
    for (size_t i = 0; i < writer->part_count; i++)
        if (writer->parts[i].parent == parent && strlen(writer->parts[i].text) == length &&
            !memcmp(writer->parts[i].text, text, length))
            return (int64_t)i;
    if (writer->part_count == NODES_MOST)
        return parent;
    struct part *part = &writer->parts[writer->part_count];
    part->parent = parent;
    snprintf(part->text, sizeof part->text, "%.*s", (int)length, text);
    return (int64_t)writer->part_count++;
}

/* Adds the name of a layer. Returns the node of the name's last part, which has the layer's type:
 * "encoder.layer.0.attention (Linear)". */
static int64_t add_name(struct writer *writer, const struct layer *layer)
{
    char last[LAYER_NAME_BYTES + 32];
    const char *part = layer->name, *dot;
    int64_t node = DOC_COLUMN_NULL;
    for (int i = 1; i < PARTS_MOST && (dot = strchr(part, '.')); i++, part = dot + 1)
        node = part_find(writer, node, part, (size_t)(dot - part));
    if (*part)
        snprintf(last, sizeof last, "%s (%s)", part, layer->kind->name);
    else
        snprintf(last, sizeof last, "layer %zu (%s)", layer->index, layer->kind->name);
    const size_t length = strlen(last);
    return part_find(writer, node, last, length < LAYER_NAME_BYTES ? length : LAYER_NAME_BYTES - 1);
}

static void find_nodes(struct writer *writer, size_t shown)
{
    for (size_t i = 0; i < shown; i++) {
        const struct run_site *site = &writer->series->sites[i];
        const char *phase = schedule_phase_name(site->phase);
        writer->nodes[i] = site->layer == SCHEDULE_NO_LAYER
                               ? part_find(writer, DOC_COLUMN_NULL, phase, strlen(phase))
                               : add_name(writer, &writer->estimate->model->layers[site->layer]);
    }
}

static void add_frames(const struct writer *writer)
{
    struct doc *doc = writer->doc;
    doc_list_begin(doc, "frames", NULL);
    for (size_t i = 0; i < writer->part_count; i++)
        series_add_frame(doc, "label", writer->parts[i].text, NULL, 0, "program");
    doc_list_end(doc);
    doc_object_begin(doc, "nodes", NULL);
    int64_t *parents = doc_column(doc, "parent", DOC_COUNT, writer->part_count);
    for (size_t i = 0; parents && i < writer->part_count; i++)
        parents[i] = writer->parts[i].parent;
    int64_t *frames = doc_column(doc, "frame", DOC_COUNT, writer->part_count);
    for (size_t i = 0; frames && i < writer->part_count; i++)
        frames[i] = (int64_t)i;
    doc_object_end(doc);
}

static void add_stack(const struct writer *writer, size_t number)
{
    const struct run_site *site = &writer->series->sites[number];
    const bool is_layer = site->layer != SCHEDULE_NO_LAYER;
    const struct layer *layer = is_layer ? &writer->estimate->model->layers[site->layer] : NULL;
    struct doc *doc = writer->doc;
    doc_row_begin(doc);
    doc_count(doc, "stack_id", "Stack", number + 1);
    doc_known_count(doc, "forward_stack_id", "Forward stack", false, 0);
    if (is_layer && layer->name[0])
        doc_text(doc, "site", "Site", layer->name);
    else if (is_layer)
        doc_textf(doc, "site", "Site", "layer %zu (%s)", layer->index, layer->kind->name);
    else
        doc_text(doc, "site", "Site", schedule_phase_name(site->phase));
    doc_text(doc, "called", "Called", NULL);
    doc_count(doc, "node", "Node", (uint64_t)writer->nodes[number]);
    doc_row_end(doc);
}

static void add_names(const struct writer *writer, size_t shown)
{
    struct doc *doc = writer->doc;
    doc_list_begin(doc, "phases", NULL);
    for (int i = 0; i < SCHEDULE_PHASES; i++) {
        doc_row_begin(doc);
        doc_text(doc, "phase", "Phase", schedule_phase_name((enum schedule_phase)i));
        doc_row_end(doc);
    }
    doc_list_end(doc);
    series_add_category_names(doc);
    add_frames(writer);
    doc_list_begin(doc, "stacks", NULL);
    for (size_t i = 0; i < shown; i++)
        add_stack(writer, i);
    doc_list_end(doc);
}

/* --- the whole series --- */

/* Adds the estimate as one layer of memory, without device and addresses. */
static void add_layer(const struct writer *writer, size_t shown)
{
    struct doc *doc = writer->doc;
    doc_list_begin(doc, "layers", NULL);
    doc_row_begin(doc);
    doc_known_count(doc, "device", "Device", false, 0);
    doc_text(doc, "layer", "Layer", "estimate");
    doc_text(doc, "pool", "Pool", NULL);
    doc_bytes(doc, "peak_bytes", "Peak", writer->estimate->peak_moment.total_bytes);
    add_points(writer);
    add_categories(writer);
    add_phases(writer);
    add_sites(writer, "lines", LINES);
    add_sites(writer, "sites", shown);
    doc_list_begin(doc, "maps", NULL);
    doc_list_end(doc);
    doc_list_begin(doc, "segments", NULL);
    doc_list_end(doc);
    doc_row_end(doc);
    doc_list_end(doc);
}

void page_estimate_series(struct doc *doc, const struct estimate *estimate,
                          const struct run_series *series)
{
    const size_t shown = series->site_count < SITES ? series->site_count : SITES;
    struct writer writer = {.doc = doc, .estimate = estimate, .series = series};
    if (!doc_takes(doc, DOC_SERIES))
        return;
    writer.parts = calloc(NODES_MOST, sizeof *writer.parts);
    if (!writer.parts)
        return; /* no memory: keep the answer, but without pictures */
    find_nodes(&writer, shown);
    doc_object_begin(doc_series(doc), "series", NULL);
    add_snapshots(&writer);
    doc_list_begin(doc, "failures", NULL);
    doc_list_end(doc);
    add_names(&writer, shown);
    add_layer(&writer, shown);
    doc_object_end(doc);
    free(writer.parts);
}
