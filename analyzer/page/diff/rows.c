/* SPDX-License-Identifier: MIT */
/* The rows of a change; see rows.h. */
#include "rows.h"

#include <inttypes.h>
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
        length = snprintf(
            text, PAGE_MORE_BYTES, "%s: its %s %.3g times as large, and %s elsewhere grew with it",
            more->site, more->category == CATEGORY_parameters ? "parameters are" : "data is",
            more->explained_ratio, BYTES_TEXT(more->explained_bytes));
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

void page_diff_moved(struct opening *opening, const struct run_diff *change)
{
    const bool is_earlier = change->moved_side == 0;

    if (change->moved_side >= 0)
        page_say(opening, VERDICT_why,
                 "The %s in another part of the program; the rows compare with its moment that is "
                 "most like the %s peak, when %s were live.",
                 is_earlier ? "earlier run peaked" : "later run peaks",
                 is_earlier ? "new" : "earlier", BYTES_TEXT(change->alike_bytes));
}

/* --- how it grew --- */

/* Says that blocks live longer. A free has no call stack, so this names the line whose allocation
 * came last before the free. */
static void say_longer(struct opening *opening, const struct diff_tree *difference,
                       const struct diff_leaf *leaf)
{
    static const char same[] = "It makes as many blocks as before, of the same size, and holds "
                               "them longer";
    const bool is_told[] = {leaf->lives[0].after_depth > 0, leaf->lives[1].after_depth > 0};
    char before[DIFF_AFTER_BYTES], after[DIFF_AFTER_BYTES];

    if (is_told[0])
        diff_leaf_freed_after(difference, leaf, 0, before);
    if (is_told[0] && !leaf->lives[1].freed_count)
        page_say(opening, VERDICT_why, "%s: freed after %s before, never now.", same, before);
    else if (is_told[0] && leaf->is_freed_elsewhere)
        page_say(opening, VERDICT_why, "%s: freed after %s before, after %s now.", same, before,
                 diff_leaf_freed_after(difference, leaf, 1, after));
    else if (is_told[0] && !is_told[1])
        page_say(opening, VERDICT_why, "%s; before, they were freed after %s.", same, before);
    else
        page_say(opening, VERDICT_why, "%s.", same);
}

void page_diff_how(struct opening *opening, const struct run_diff *change)
{
    const struct diff_row *row = run_diff_guilty(change);
    const struct diff_leaf *leaf = row ? row->leaf : NULL;

    if (!leaf || row->explained_bytes ||
        leaf->bytes[1] - leaf->bytes[0] < (uint64_t)row->delta_bytes / 10 * 9)
        return;
    switch (diff_leaf_how(leaf)) {
    case DIFF_HOW_LONGER:
        say_longer(opening, &change->difference, leaf);
        break;
    case DIFF_HOW_LARGER:
        page_say(opening, VERDICT_why,
                 "It makes as many blocks as before, each %.3g times as large.",
                 (double)leaf->each_bytes[1] / (double)leaf->each_bytes[0]);
        break;
    case DIFF_HOW_MORE:
        page_say(opening, VERDICT_why,
                 "It makes %" PRIu64 " blocks where it made %" PRIu64 ", of the same size.",
                 leaf->lives[1].born_count, leaf->lives[0].born_count);
        break;
    case DIFF_HOW_UNKNOWN:
        break;
    }
}
