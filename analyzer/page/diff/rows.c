/* SPDX-License-Identifier: MIT */
/* The rows of a change; see rows.h. */
#include "rows.h"

#include <stdio.h>

#include "analyzer/page/parts.h"
#include "analyzer/render/units.h"

/* Lists the program's lines, from the one to blame to the outermost. */
static void add_frames(struct doc *doc, const struct diff_tree *difference,
                       const struct diff_row *row)
{
    const char *const *texts = difference->names->texts;

    doc_list_begin(doc_detail(doc), "frames", NULL);
    for (uint32_t at = row->node; at != 0; at = difference->nodes[at].outer) {
        const struct call_line *call_line = &difference->nodes[at].call_line;

        doc_row_begin(doc);
        doc_text(doc, "function", "Function", texts[call_line->function]);
        doc_text(doc, "file", "File", *texts[call_line->file] ? texts[call_line->file] : NULL);
        doc_known_count(doc, "line", "Line", call_line->line != 0, call_line->line);
        doc_row_end(doc);
    }
    if (!row->node) { /* no line of the program is known */
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
    char text[CALL_LINE_BYTES];
    doc_list_begin(doc_summary(doc), NULL, NULL);
    doc_row_begin(doc);
    doc_text(doc, NULL, "", row->label);
    doc_list_begin(doc, NULL, NULL);
    for (uint32_t at = row->node ? difference->nodes[row->node].outer : 0; at != 0;
         at = difference->nodes[at].outer)
        doc_text(doc, NULL, "",
                 call_line_text(&difference->nodes[at].call_line, difference->names, text));
    doc_list_end(doc);
    doc_row_end(doc);
    doc_list_end(doc);
}

void page_change(struct doc *doc, const uint64_t bytes[2])
{
    doc_integer(doc, "delta_bytes", "Change", DOC_DELTA, (int64_t)(bytes[1] - bytes[0]));
    doc_bytes(doc, "before_bytes", "From", bytes[0]);
    doc_bytes(doc, "after_bytes", "To", bytes[1]);
}

static void add_row(struct doc *doc, const struct diff_tree *difference, const struct diff_row *row)
{
    const char *called = difference->names->texts[row->leaf->name];
    const struct call_line *call_line = row->node ? &difference->nodes[row->node].call_line : NULL;
    doc_integer(doc, "delta_bytes", "Change", DOC_DELTA, row->delta_bytes);
    doc_bytes(doc, "before_bytes", "From", row->bytes[0]);
    doc_bytes(doc, "after_bytes", "To", row->bytes[1]);
    doc_count(doc_detail(doc), "before_count", "Blocks before", row->counts[0]);
    doc_count(doc_detail(doc), "after_count", "Blocks after", row->counts[1]);
    doc_text(doc, "category", "Category", category_key(row->leaf->category));
    doc_text(doc_detail(doc), "site", "Site", row->label);
    doc_text(doc_detail(doc), "called", "Called", *called ? called : NULL);
    doc_text(doc_detail(doc), "file", "File",
             call_line ? difference->names->texts[call_line->file] : NULL);
    doc_known_count(doc_detail(doc), "line", "Line", call_line && call_line->line,
                    call_line ? call_line->line : 0);
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

const char *page_more(const struct more *more, char text[PAGE_MORE_BYTES])
{
    int length;
    *text = 0;
    if (!*more->site)
        return text;
    if (more->explained_bytes)
        length = snprintf(text, PAGE_MORE_BYTES,
                          "%s: its %s %s times as large, and %s elsewhere grew with it", more->site,
                          more->category == CATEGORY_parameters ? "parameters are" : "data is",
                          FACTOR_TEXT(more->explained_ratio), BYTES_TEXT(more->explained_bytes));
    else
        length = snprintf(text, PAGE_MORE_BYTES, "%s: it holds %s more", more->site,
                          BYTES_TEXT(more->bytes));
    if (*more->next_site)
        snprintf(text + length, (size_t)(PAGE_MORE_BYTES - length), "; %s holds %s more",
                 more->next_site, BYTES_TEXT(more->next_bytes));
    return text;
}

const char *page_diff_guilty(const struct run_diff *change, char text[PAGE_MORE_BYTES])
{
    const struct more more = more_of(change);
    return page_more(&more, text);
}

const char *page_diff_shrunk(const struct run_diff *change, char text[PAGE_MORE_BYTES])
{
    const struct diff_row *row = run_diff_shrunk(change);
    *text = 0;
    if (row)
        snprintf(text, PAGE_MORE_BYTES, "%s: it holds %s less", row->label,
                 BYTES_TEXT((uint64_t)-row->delta_bytes));
    return text;
}
