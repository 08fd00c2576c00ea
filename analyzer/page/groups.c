/* SPDX-License-Identifier: MIT */
/* Adds groups and the call tree to a page; see groups.h. */
#include "groups.h"

#include <inttypes.h>

#include "analyzer/analysis/site_tables/call_tree.h"
#include "analyzer/render/units.h"
#include "analyzer/thresholds/thresholds.h"
#include "parts.h"

/* --- groups --- */

enum { GROUPS_MOST = 20, GROUP_FRAME_LINES = 3 };

/* Adds the number that the trace gives the stack, because several stacks of one line have equal
 * labels. */
static void add_stack_number(struct doc *doc, const struct blamed *blamed)
{
    if (site_forward_stack(blamed->site_id))
        doc_textf(doc_summary(doc), NULL, "Stack", "%" PRIu32 " of forward %" PRIu32,
                  site_stack(blamed->site_id), site_forward_stack(blamed->site_id));
    else if (site_stack(blamed->site_id))
        doc_textf(doc_summary(doc), NULL, "Stack", "%" PRIu32, site_stack(blamed->site_id));
    else
        doc_null(doc_summary(doc), NULL, "Stack", DOC_TEXT);
}

static int add_group(struct doc *doc, const struct study *study, const struct view *view,
                     const struct page_held *held, const struct group *group, bool by_stack,
                     struct err *err)
{
    const double total = held->sites->total_bytes ? (double)held->sites->total_bytes : 1;
    page_layer(doc_detail(doc), study, &study->history.accounts[held->account], "Layer");
    doc_bytes(doc, "own_bytes", "Own", group->own_bytes);
    doc_ratio(doc_summary(doc), NULL, "Share", (double)group->own_bytes / total);
    doc_bar(doc, (double)group->own_bytes / total, 0);
    doc_count(doc_detail(doc), "own_count", "Own blocks", group->own_count);
    doc_bytes(doc, "inclusive_bytes", "Inclusive", group->inclusive_bytes);
    doc_ratio(doc_summary(doc), NULL, "Share", (double)group->inclusive_bytes / total);
    doc_count(doc, "inclusive_count", "Blocks", group->inclusive_count);
    if (by_stack)
        add_stack_number(doc, group->blamed);
    doc_text(by_stack ? doc_detail(doc) : doc, "name", "Name", group->name);
    return by_stack ? page_frames_of(doc, study, view, group->blamed, 0, GROUP_FRAME_LINES, err)
                    : 0;
}

int page_groups(struct doc *doc, const struct study *study, const struct view *view,
                const struct page_held *held, enum groups_by by, struct err *err)
{
    struct groups groups;
    int status = 0;
    if (groups_find(&groups, by, study->symbols, held->sites, held->blame, err))
        return -1;
    const size_t limit = view_limit(view, groups.count);
    for (size_t i = 0; i < limit && !status; i++) {
        doc_row_begin(doc_detail_if(doc, !held->is_leading || (!view->top && i >= GROUPS_MOST)));
        status = add_group(doc, study, view, held, &groups.items[i], by == GROUPS_BY_STACK, err);
        doc_row_end(doc);
    }
    groups_release(&groups);
    return status;
}

/* --- the tree --- */

enum { INDENT_MOST = 40 };

struct drawing {
    struct doc *doc;
    const struct call_tree *tree;
    uint64_t total_bytes;
    size_t children_most; /* the largest number of lines for the children of one node */
};

static void draw_line(const struct drawing *drawing, uint64_t bytes, uint64_t count, uint32_t depth,
                      const char *text, size_t cut)
{
    const int indent = 2 * (int)(depth < INDENT_MOST ? depth : INDENT_MOST);
    struct doc *doc = drawing->doc;
    doc_row_begin(doc_summary(doc));
    doc_bytes(doc, NULL, "Bytes", bytes);
    doc_ratio(doc, NULL, "Share", (double)bytes / (double)drawing->total_bytes);
    doc_bar(doc, (double)bytes / (double)drawing->total_bytes, 0);
    doc_count(doc, NULL, "Blocks", count);
    if (cut)
        doc_textf(doc, NULL, "Calls", "%*s… %zu more", indent, "", cut);
    else
        doc_textf(doc, NULL, "Calls", "%*s%s", indent, "", text);
    doc_row_end(doc);
}

/* Draws the children of a node. They are sorted by bytes, so the children that are too small for a
 * line come last. */
static void draw_children(const struct drawing *drawing, size_t first, size_t end)
{
    const struct call_node *items = drawing->tree->items;
    size_t shown = 0, cut = 0;
    uint64_t bytes = 0, count = 0;
    for (size_t at = first; at < end; at = items[at].end) {
        const struct call_node *node = &items[at];

        if (shown == drawing->children_most ||
            node->bytes < drawing->total_bytes / BRANCH_DIVISOR) {
            cut++;
            bytes += node->bytes;
            count += node->count;
            continue;
        }
        shown++;
        draw_line(drawing, node->bytes, node->count, node->depth, node->name, 0);
        draw_children(drawing, at + 1, node->end);
    }
    if (cut)
        draw_line(drawing, bytes, count, items[first].depth, NULL, cut);
}

static void add_node(struct doc *doc, const struct study *study, const struct account *account,
                     const struct call_node *node)
{
    doc_row_begin(doc_detail(doc));
    page_layer(doc, study, account, "Layer");
    doc_count(doc, "depth", "Depth", node->depth);
    doc_text(doc, "name", "Name", node->name);
    doc_bytes(doc, "inclusive_bytes", "Inclusive", node->bytes);
    doc_count(doc, "inclusive_count", "Blocks", node->count);
    doc_bytes(doc, "own_bytes", "Own", node->own_bytes);
    doc_count(doc, "own_count", "Own blocks", node->own_count);
    doc_row_end(doc);
}

int page_call_tree(struct doc *doc, const struct study *study, const struct view *view,
                   const struct page_held *held, struct err *err)
{
    struct call_tree tree;
    if (call_tree_find(&tree, held->sites, held->blame, err))
        return -1;
    const struct drawing drawing = {doc, &tree, held->sites->total_bytes,
                                    view->top ? (size_t)view->top : SIZE_MAX};
    if (held->is_leading && doc_takes(doc, DOC_SUMMARY))
        draw_children(&drawing, 0, tree.count);
    for (size_t i = 0; i < tree.count && doc_takes(doc, DOC_DETAIL); i++)
        add_node(doc, study, &study->history.accounts[held->account], &tree.items[i]);
    call_tree_release(&tree);
    return 0;
}

/* Returns the line of the program that holds most, no matter which function it called. NULL: there
 * is none. */
static const struct group *largest_of_program(const struct groups *groups)
{
    for (size_t i = 0; i < groups->count; i++)
        if (groups->items[i].own_bytes && groups->items[i].blamed->names_line)
            return &groups->items[i];
    return NULL;
}

int page_format_most(char *text, size_t size, const struct study *study, const struct sites *sites,
                     const struct blame *blame, struct err *err)
{
    struct groups groups;
    if (groups_find(&groups, GROUPS_BY_LINE, study->symbols, sites, blame, err))
        return -1;
    const struct group *most = groups.items, *line = largest_of_program(&groups);
    *text = 0;
    if (most->own_bytes && most->blamed->is_known) {
        const int length =
            snprintf(text, size, "%s by %s (%s)",
                     most->own_bytes > sites->total_bytes / 2 ? "Most of it" : "The largest part",
                     most->name, BYTES_TEXT(most->own_bytes));
        if (line && line != most)
            snprintf(text + length, size - (size_t)length, ", then %s (%s)", line->name,
                     BYTES_TEXT(line->own_bytes));
    } else if (line) {
        snprintf(text, size, "Most of the bytes with a stack by %s (%s)", line->name,
                 BYTES_TEXT(line->own_bytes));
    }
    groups_release(&groups);
    return 0;
}
