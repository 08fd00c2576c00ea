/* SPDX-License-Identifier: MIT */
/* A change as a tree; see tree.h. */
#include "tree.h"

#include "analyzer/page/parts.h"

/* Adds the number of a node. Node 0, above the outermost lines, has no row, so the other nodes are
 * numbered from 0. */
static void add_number(struct doc *doc, const char *key, uint32_t node)
{
    doc_known_count(doc, key, "Node", node != 0, node - UINT64_C(1));
}

static void add_nodes(struct doc *doc, const struct diff_tree *difference)
{
    const char *const *texts = difference->names->texts;

    doc_list_begin(doc, "nodes", NULL);
    for (size_t i = 1; i < difference->node_count; i++) {
        const struct diff_node *node = &difference->nodes[i];
        const char *file = texts[node->call_line.file];

        doc_row_begin(doc);
        add_number(doc, "outer", node->outer);
        doc_text(doc, "function", "Function", texts[node->call_line.function]);
        doc_text(doc, "file", "File", *file ? file : NULL);
        doc_known_count(doc, "line", "Line", node->call_line.line != 0, node->call_line.line);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

static void add_leaves(struct doc *doc, const struct diff_tree *difference)
{
    doc_list_begin(doc, "leaves", NULL);
    for (uint32_t i = 0; i < difference->node_count; i++)
        for (size_t n = difference->nodes[i].first_leaf; n < difference->nodes[i].leaf_end; n++) {
            const struct diff_leaf *leaf = &difference->leaves[n];
            const char *called = difference->names->texts[leaf->name];

            doc_row_begin(doc);
            add_number(doc, "node", i);
            doc_text(doc, "called", "Called", *called ? called : NULL);
            doc_text(doc, "category", "Category", category_key(leaf->category));
            doc_bool(doc, "is_moved", "Moved", leaf->is_moved);
            doc_bytes(doc, "before_bytes", "From", leaf->bytes[0]);
            doc_bytes(doc, "after_bytes", "To", leaf->bytes[1]);
            doc_row_end(doc);
        }
    doc_list_end(doc);
}

void page_diff_tree(struct doc *doc, const struct run_diff *change, const struct study *study,
                    uint32_t account)
{
    if (!doc_takes(doc, DOC_SERIES))
        return;
    doc_object_begin(doc_series(doc), "change_tree", NULL);
    page_layer(doc, study, &study->history.accounts[account], "Layer");
    add_nodes(doc, &change->difference);
    add_leaves(doc, &change->difference);
    doc_object_end(doc);
}
