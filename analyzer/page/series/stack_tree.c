/* SPDX-License-Identifier: MIT */
/* Builds a tree of call stacks; see stack_tree.h. */
#include "stack_tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/util/array.h"
#include "analyzer/page/series_parts.h"

/* Size of the text that tells two frames apart for a reader. */
enum { FRAME_TEXT_BYTES = 2048 };

static uint32_t add_frame(struct stack_tree *tree, const struct symbol_frame *frame,
                          struct err *err)
{
    char text[FRAME_TEXT_BYTES];
    snprintf(text, sizeof text, "%s %d %" PRIu32 " %.900s %.900s", frame->kind, frame->role,
             frame->line, frame->file ? frame->file : "", frame->function);
    const uint32_t number = text_set_add(&tree->frame_texts, text, err);
    if (number == TEXT_SET_NONE || number < tree->frame_count)
        return number;
    if (ARRAY_GROW(tree->frames, tree->frame_capacity, tree->frame_count, err))
        return TEXT_SET_NONE;
    tree->frames[tree->frame_count++] = *frame;
    return number;
}

/* Adds a stack's frames to the tree, from the outermost inwards. Sets *node to the innermost
 * frame. */
static int add_path(struct stack_tree *tree, struct symbols *symbols, uint32_t stack_id,
                    uint32_t *node, struct err *err)
{
    struct symbol_walk walk = symbols_walk_begin(symbols, stack_id);
    uint32_t frames[SYMBOLS_DEPTH_MAX];
    struct symbol_frame frame;
    size_t count = 0;
    int status = 1;
    while (count < SYMBOLS_DEPTH_MAX && (status = symbols_walk_next(&walk, &frame, err)) > 0)
        if ((frames[count++] = add_frame(tree, &frame, err)) == TEXT_SET_NONE)
            return -1;
    if (status < 0)
        return -1;
    *node = FRAME_TREE_NONE;
    while (count > 0)
        if ((*node = frame_tree_add(&tree->tree, *node, frames[--count], err)) == FRAME_TREE_NONE)
            return -1;
    return 0;
}

uint32_t stack_tree_add(struct stack_tree *tree, struct symbols *symbols, uint64_t site_id,
                        struct err *err)
{
    const uint32_t known = pair_map_get(&tree->numbers, 0, site_id);
    uint32_t node;
    if (known != PAIR_MAP_NONE)
        return known;
    if (ARRAY_GROW(tree->stacks, tree->stack_capacity, tree->stack_count, err))
        return UINT32_MAX;
    if (add_path(tree, symbols, site_stack(site_id), &node, err) ||
        pair_map_put(&tree->numbers, 0, site_id, (uint32_t)tree->stack_count, err))
        return UINT32_MAX;
    tree->stacks[tree->stack_count] = (struct tree_stack){.site_id = site_id, .node = node};
    return (uint32_t)tree->stack_count++;
}

static void describe_frames(struct doc *doc, const struct stack_tree *tree)
{
    doc_list_begin(doc, "frames", NULL);
    for (size_t i = 0; i < tree->frame_count; i++) {
        const struct symbol_frame *frame = &tree->frames[i];
        series_add_frame(doc, frame->kind, frame->function, frame->file, frame->line,
                         frame_role_key(frame->role));
    }
    doc_list_end(doc);
}

static void describe_nodes(struct doc *doc, const struct frame_tree *tree)
{
    doc_object_begin(doc, "nodes", NULL);
    int64_t *parents = doc_column(doc, "parent", DOC_COUNT, tree->count);
    for (size_t i = 0; parents && i < tree->count; i++)
        parents[i] =
            tree->nodes[i].outer == FRAME_TREE_NONE ? DOC_COLUMN_NULL : tree->nodes[i].outer;
    int64_t *frames = doc_column(doc, "frame", DOC_COUNT, tree->count);
    for (size_t i = 0; frames && i < tree->count; i++)
        frames[i] = (int64_t)tree->nodes[i].frame;
    doc_object_end(doc);
}

static int describe_stacks(struct doc *doc, const struct stack_tree *tree, struct symbols *symbols,
                           struct err *err)
{
    uint64_t *sites = array_new(tree->stack_count, sizeof *sites, err);
    struct blame blame;
    if (!sites)
        return -1;
    for (size_t i = 0; i < tree->stack_count; i++)
        sites[i] = tree->stacks[i].site_id;
    const int status = blame_sites(&blame, symbols, sites, tree->stack_count, err);
    free(sites);
    if (status)
        return -1;
    doc_list_begin(doc, "stacks", NULL);
    for (size_t i = 0; i < tree->stack_count; i++) {
        const struct tree_stack *stack = &tree->stacks[i];
        const struct blamed *blamed = blame_of(&blame, stack->site_id);
        doc_row_begin(doc);
        doc_count(doc, "stack_id", "Stack", site_stack(stack->site_id));
        doc_known_count(doc, "forward_stack_id", "Forward stack",
                        site_forward_stack(stack->site_id) != 0,
                        site_forward_stack(stack->site_id));
        doc_text(doc, "site", "Site", blamed->is_known ? blamed->label : NULL);
        doc_text(doc, "called", "Called", blamed->site.called);
        doc_known_count(doc, "node", "Node", stack->node != FRAME_TREE_NONE, stack->node);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    blame_release(&blame);
    return 0;
}

int stack_tree_describe(struct doc *doc, const struct stack_tree *tree, struct symbols *symbols,
                        struct err *err)
{
    describe_frames(doc, tree);
    describe_nodes(doc, &tree->tree);
    return describe_stacks(doc, tree, symbols, err);
}

void stack_tree_release(struct stack_tree *tree)
{
    free(tree->frames);
    free(tree->stacks);
    text_set_release(&tree->frame_texts);
    frame_tree_release(&tree->tree);
    pair_map_release(&tree->numbers);
    *tree = (struct stack_tree){0};
}
