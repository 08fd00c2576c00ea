/* SPDX-License-Identifier: MIT */
/* The rows of a change; see rows.h. */
#include "rows.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyzer/page/parts.h"
#include "analyzer/render/units.h"

/* The program's lines, from the one to blame outwards. */
static void add_frames(struct doc *doc, const struct diff_tree *difference,
                       const struct diff_row *row)
{
    const char *const *texts = difference->names->texts;

    doc_list_begin(doc_detail(doc), "frames", NULL);
    for (uint32_t at = row->node; at != 0; at = difference->nodes[at].outer) {
        const struct held_step *step = &difference->nodes[at].step;

        doc_row_begin(doc);
        doc_text(doc, "function", "Function", texts[step->function]);
        doc_text(doc, "file", "File", *texts[step->file] ? texts[step->file] : NULL);
        doc_known_count(doc, "line", "Line", step->line != 0, step->line);
        doc_row_end(doc);
    }
    if (!row->node) { /* nothing is the program's */
        doc_row_begin(doc);
        doc_text(doc, "function", "Function", texts[row->leaf->name]);
        doc_null(doc, "file", "File", DOC_TEXT);
        doc_null(doc, "line", "Line", DOC_COUNT);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

static void add_callers(struct doc *doc, const struct diff_tree *difference,
                        const struct diff_row *row)
{
    char text[HELD_STEP_BYTES];

    doc_list_begin(doc_summary(doc), NULL, NULL);
    doc_row_begin(doc);
    doc_text(doc, NULL, "", row->who);
    doc_list_begin(doc, NULL, NULL);
    for (uint32_t at = row->node ? difference->nodes[row->node].outer : 0; at != 0;
         at = difference->nodes[at].outer)
        doc_text(doc, NULL, "",
                 held_step_text(&difference->nodes[at].step, difference->names, text));
    doc_list_end(doc);
    doc_row_end(doc);
    doc_list_end(doc);
}

static void add_row(struct doc *doc, const struct diff_tree *difference, const struct diff_row *row)
{
    const char *called = difference->names->texts[row->leaf->name];
    const struct held_step *step = row->node ? &difference->nodes[row->node].step : NULL;

    doc_integer(doc, "delta_bytes", "Change", DOC_DELTA, row->delta_bytes);
    doc_bytes(doc, "before_bytes", "From", row->bytes[0]);
    doc_bytes(doc, "after_bytes", "To", row->bytes[1]);
    doc_count(doc_detail(doc), "before_count", "Blocks before", row->counts[0]);
    doc_count(doc_detail(doc), "after_count", "Blocks after", row->counts[1]);
    doc_text(doc, "category", "Category", category_key(row->leaf->category));
    doc_text(doc_detail(doc), "site", "Site", row->who);
    doc_text(doc_detail(doc), "called", "Called", *called ? called : NULL);
    doc_text(doc_detail(doc), "file", "File", step ? difference->names->texts[step->file] : NULL);
    doc_known_count(doc_detail(doc), "line", "Line", step && step->line, step ? step->line : 0);
    doc_known_bytes(doc_detail(doc), "explains_bytes", "Explains", row->explained_bytes != 0,
                    row->explained_bytes);
    add_frames(doc, difference, row);
    add_callers(doc, difference, row);
}

void page_diff_rows(struct doc *doc, const struct run_diff *change, const struct view *view,
                    const char *key, const char *heading, bool grown_only)
{
    const struct diff_tree *difference = &change->difference;
    const size_t limit = view_limit(view, difference->row_count);

    doc_list_begin(doc, key, heading);
    for (size_t i = 0; i < limit; i++) {
        if (grown_only && difference->rows[i].delta_bytes < 0)
            break;
        doc_row_begin(doc_detail_if(doc, !view->top && i >= PAGE_SITES));
        add_row(doc, difference, &difference->rows[i]);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

const char *page_diff_guilty(const struct run_diff *change, char text[PAGE_GUILTY_BYTES])
{
    const struct diff_row *row = run_diff_guilty(change);
    char delta[UNITS_TEXT_BYTES], more[UNITS_TEXT_BYTES];

    *text = 0;
    if (!row)
        return text;
    units_bytes(delta, (uint64_t)row->delta_bytes);
    if (row->explained_bytes)
        snprintf(text, PAGE_GUILTY_BYTES,
                 "%s: its %s %.3g times as large, and %s elsewhere grew with it", row->who,
                 row->leaf->category == CATEGORY_parameters ? "parameters are" : "data is",
                 row->explained_ratio, units_bytes(more, row->explained_bytes));
    else
        snprintf(text, PAGE_GUILTY_BYTES, "%s: it holds %s more", row->who, delta);
    return text;
}
