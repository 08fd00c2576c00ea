/* SPDX-License-Identifier: MIT */
/* Finds the line to blame for a change; see diff_tree.h. */
#include "diff_tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/thresholds/thresholds.h"
#include "analyzer/util/array.h"
#include "merged.h"

/* Counts the nodes of a line: all nodes with live memory after, and all nodes below which more
 * memory grew than shrank. */
struct place_use {
    uint32_t live_count, grown_count;
};

struct blaming {
    struct diff_tree *difference;
    struct place_use *uses; /* by place */
    struct err *err;
};

/* --- helpers: lines that several other lines call to allocate --- */

static int count_places(struct blaming *blaming)
{
    const struct diff_tree *difference = blaming->difference;
    blaming->uses = array_new(difference->names->count, sizeof *blaming->uses, blaming->err);
    if (!blaming->uses)
        return -1;
    for (size_t i = 1; i < difference->node_count; i++) {
        const struct diff_node *node = &difference->nodes[i];
        struct place_use *use = &blaming->uses[node->call_line.place];

        use->live_count += node->after_bytes > 0;
        use->grown_count += node->grown_bytes > node->shrunk_bytes;
    }
    return 0;
}

/*
 * Returns the line to blame for the leaves of a line and of the lines that it called. If the
 * innermost of their labels is further out, the search begins there, because the line itself is a
 * helper or a wrapper. If a helper grew for only some of its callers, the caller is to blame.
 */
static uint32_t caller_to_blame(const struct blaming *blaming, uint32_t number, size_t label_depth)
{
    const struct diff_node *nodes = blaming->difference->nodes;
    while (label_depth && nodes[number].depth > label_depth)
        number = nodes[number].outer;
    for (uint32_t at = number; at != 0; at = nodes[at].outer) {
        const struct place_use *use = &blaming->uses[nodes[at].call_line.place];

        if (use->live_count < 2 || use->grown_count >= use->live_count)
            return at;
    }
    return number;
}

/* --- rows --- */

static void add_leaf_to_row(struct diff_row *row, const struct diff_leaf *leaf)
{
    if (leaf->is_moved)
        return;
    for (int side = 0; side < 2; side++) {
        row->bytes[side] += leaf->bytes[side];
        row->counts[side] += leaf->counts[side];
    }
    row->delta_bytes += diff_leaf_delta(leaf);
    if (!row->leaf || llabs(diff_leaf_delta(leaf)) > llabs(diff_leaf_delta(row->leaf)))
        row->leaf = leaf;
}

/* Returns the name of a row. A row of backward is named after the forward line: "MmBackward0 of
 * gpt.py:24 Layer.attend". */
static const char *name_row(const struct blaming *blaming, uint32_t node,
                            const struct diff_leaf *leaf, bool is_of_backward)
{
    const struct diff_tree *difference = blaming->difference;
    const char *name = difference->names->texts[leaf->name];
    char call_line[CALL_LINE_BYTES], text[2 * CALL_LINE_BYTES];
    if (!node)
        snprintf(text, sizeof text, "%s", name);
    else
        snprintf(text, sizeof text, "%s%s%s", is_of_backward ? name : "",
                 is_of_backward ? " of " : "",
                 call_line_text(&difference->nodes[node].call_line, difference->names, call_line));
    const uint32_t number = text_set_add(&blaming->difference->labels, text, blaming->err);
    return number == TEXT_SET_NONE ? NULL : difference->labels.texts[number];
}

/* Adds one row for the leaves from `first` up to, but not including, `end`. */
static int add_row(const struct blaming *blaming, uint32_t node, size_t first, size_t end)
{
    struct diff_tree *difference = blaming->difference;
    struct diff_row row = {.node = node};
    bool is_of_backward = true;
    size_t label_depth = 0;
    for (size_t i = first; i < end; i++) {
        const struct diff_leaf *leaf = &difference->leaves[i];

        add_leaf_to_row(&row, leaf);
        is_of_backward &= leaf->is_of_backward || !diff_leaf_delta(leaf);
        if (diff_leaf_delta(leaf) && leaf->label_depth > label_depth)
            label_depth = leaf->label_depth;
    }
    if (!row.delta_bytes)
        return 0;
    row.node = caller_to_blame(blaming, node, label_depth);
    row.label = name_row(blaming, row.node, row.leaf, is_of_backward);
    if (!row.label ||
        ARRAY_GROW(difference->rows, difference->row_capacity, difference->row_count, blaming->err))
        return -1;
    difference->rows[difference->row_count++] = row;
    return 0;
}

/* --- the line to blame --- */

/* Returns the line's own allocations as one more part, beside the lines that it called. */
static struct diff_node own_part(const struct diff_tree *difference, uint32_t number)
{
    const struct diff_node *nodes = difference->nodes;
    struct diff_node own = nodes[number];
    for (size_t at = number + 1; at < nodes[number].end; at = nodes[at].end) {
        own.grown_bytes -= nodes[at].grown_bytes;
        own.growing_bytes -= nodes[at].growing_bytes;
        own.before_bytes -= nodes[at].before_bytes;
        own.after_bytes -= nodes[at].after_bytes;
    }
    return own;
}

/*
 * True if one part of an old line grew much more than the other parts of the line: the other parts
 * grew by a smaller factor, hardly grew, or are new. Also true if the line held nothing before. A
 * run in which checkpointing was disabled looks like this if its peak comes a little sooner.
 */
static bool stands_out(const struct diff_node *node, const struct diff_node *most)
{
    const double before = (double)(node->before_bytes - most->before_bytes);
    const double after = (double)(node->after_bytes - most->after_bytes);
    const double factor =
        most->before_bytes ? (double)most->after_bytes / (double)most->before_bytes : HUGE_VAL;
    if (!node->is_old || most->grown_bytes < node->grown_bytes / 3 * 2)
        return false;
    if (!node->before_bytes)
        return true;
    if (before <= 0)
        return most->before_bytes > 0;
    return factor > 1.5 * after / before || factor - 1 > HARDLY_GROWN_TIMES * (after / before - 1);
}

/* True if a larger input is below the line. It explains the other growth below the line. */
static bool makes_larger_input(const struct diff_tree *difference, const struct diff_node *node)
{
    const size_t end = difference->nodes[node->end - 1].leaf_end;
    for (size_t i = node->first_leaf; i < end; i++) {
        const struct diff_leaf *leaf = &difference->leaves[i];

        if (leaf->category == CATEGORY_input && diff_leaf_delta(leaf) > 0 &&
            (uint64_t)diff_leaf_delta(leaf) < node->grown_bytes / 2)
            return true;
    }
    return false;
}

/*
 * True for the line of the training loop, which has nearly all live memory below it. Gradients and
 * states that grew beside one part have only the loop in common with this part.
 */
static bool is_of_loop(const struct diff_tree *difference, const struct diff_node *node,
                       const struct diff_node *most)
{
    return node->after_bytes >= difference->nodes[0].after_bytes / 4 * 3 &&
           most->grown_bytes >= node->grown_bytes / 8 * 7;
}

/*
 * True if the line itself is to blame: most other parts grew beside the part that grew most, and
 * none of the exceptions above holds.
 */
static bool is_spread(const struct diff_tree *difference, uint32_t number)
{
    const struct diff_node *nodes = difference->nodes, *node = &nodes[number];
    if (node->outer == DIFF_NONE || nodes[node->outer].outer == DIFF_NONE || !node->grown_bytes)
        return false;
    const struct diff_node own = own_part(difference, number), *most = &own;
    for (size_t at = number + 1; at < node->end; at = nodes[at].end)
        if (nodes[at].grown_bytes > most->grown_bytes)
            most = &nodes[at];
    const uint64_t others = node->after_bytes - most->after_bytes;
    return others && node->growing_bytes - most->growing_bytes >= others / 2 &&
           node->grown_bytes > most->grown_bytes && !stands_out(node, most) &&
           !is_of_loop(difference, node, most) && !makes_larger_input(difference, node);
}

static int blame_leaves_alone(const struct blaming *blaming, const struct diff_node *node)
{
    for (size_t i = node->first_leaf; i < node->leaf_end; i++)
        if (add_row(blaming, 0, i, i + 1))
            return -1;
    return 0;
}

static int blame_lines(const struct blaming *blaming)
{
    const struct diff_tree *difference = blaming->difference;
    size_t end;
    if (blame_leaves_alone(blaming, &difference->nodes[0]))
        return -1;
    for (size_t i = 1; i < difference->node_count; i = end) {
        const struct diff_node *node = &difference->nodes[i];
        const bool spread = is_spread(difference, (uint32_t)i);
        const size_t last = spread ? node->end - 1 : i;

        end = last + 1;
        if (add_row(blaming, (uint32_t)i, node->first_leaf, difference->nodes[last].leaf_end))
            return -1;
    }
    return 0;
}

/* --- how a leaf grew --- */

/* Returns the average number of events between birth and free, or 0 if no block was freed. */
static double mean_age(const struct held_life *life)
{
    return life->freed_count ? (double)life->freed_age / (double)life->freed_count : 0;
}

enum diff_how diff_leaf_how(const struct diff_leaf *leaf)
{
    const struct held_life *before = &leaf->lives[0], *after = &leaf->lives[1];
    const uint64_t *each = leaf->each_bytes, *counts = leaf->counts;
    if (!before->born_count || after->born_count < before->born_count)
        return DIFF_HOW_UNKNOWN;
    if (after->born_count > before->born_count)
        return each[0] == each[1] ? DIFF_HOW_MORE : DIFF_HOW_UNKNOWN;
    if (each[1] > each[0])
        return counts[0] == counts[1] ? DIFF_HOW_LARGER : DIFF_HOW_UNKNOWN;
    return each[0] == each[1] && counts[1] > counts[0] &&
                   (!after->freed_count || mean_age(after) > mean_age(before))
               ? DIFF_HOW_LONGER
               : DIFF_HOW_UNKNOWN;
}

const char *diff_leaf_freed_after(const struct diff_tree *difference, const struct diff_leaf *leaf,
                                  int side, char buffer[DIFF_AFTER_BYTES])
{
    const struct held_life *life = &leaf->lives[side];
    char call_line[CALL_LINE_BYTES];
    snprintf(buffer, DIFF_AFTER_BYTES, "%s%s", life->is_after_backward ? "the backward of " : "",
             call_line_text(&life->after[life->after_depth - 1], difference->names, call_line));
    return buffer;
}

/* --- several rows of one line become one --- */

ORDER_BY(compare_labels, struct diff_row, strcmp(a->label, b->label), RISING(node));

static void join_rows(struct diff_tree *difference)
{
    struct diff_row *rows = difference->rows;
    size_t kept = 0;
    if (!difference->row_count)
        return;
    SORT(rows, difference->row_count, compare_labels);
    for (size_t i = 1; i < difference->row_count; i++) {
        struct diff_row *into = &rows[kept];

        if (strcmp(into->label, rows[i].label) != 0) {
            rows[++kept] = rows[i];
            continue;
        }
        if (llabs(rows[i].delta_bytes) > llabs(into->delta_bytes)) {
            into->node = rows[i].node;
            into->leaf = rows[i].leaf;
        }
        for (int side = 0; side < 2; side++) {
            into->bytes[side] += rows[i].bytes[side];
            into->counts[side] += rows[i].counts[side];
        }
        into->delta_bytes += rows[i].delta_bytes;
    }
    difference->row_count = kept + 1;
}

/* --- the input, or the model, that explains the growth of other rows --- */

/*
 * True if a larger input explains the leaf: it has as many blocks as before, and grew at most by
 * the square of the input's factor (attention between all positions). If the input is much larger,
 * the peak may be at another moment, so a leaf that was not live before is also explained.
 */
static bool grew_with(const struct diff_leaf *leaf, double ratio)
{
    if (!leaf->counts[0] && ratio >= MUCH_LARGER_RATIO)
        return true;
    return !leaf->is_moved && leaf->counts[0] == leaf->counts[1] &&
           (double)leaf->bytes[1] <= (double)leaf->bytes[0] * ratio * ratio * 1.02;
}

static bool has_larger_blocks(const struct diff_leaf *leaf)
{
    return leaf->each_bytes[0] && leaf->each_bytes[1] > leaf->each_bytes[0];
}

static bool line_has_larger_blocks(const struct diff_tree *difference, const struct diff_node *node)
{
    for (size_t i = node->first_leaf; i < node->leaf_end; i++)
        if (has_larger_blocks(&difference->leaves[i]))
            return true;
    return false;
}

/*
 * True if a larger model (wider or deeper) explains the leaf. It does if the leaf has larger
 * blocks, belongs to the backward of a line with larger blocks, has as many blocks as before, or
 * grew at most by the square of the model's factor. A single wider layer may grow by a larger
 * factor than the whole model.
 */
static bool grew_with_model(const struct diff_leaf *leaf, double ratio, bool is_line_larger)
{
    if (has_larger_blocks(leaf) || (leaf->is_of_backward && is_line_larger))
        return true;
    return leaf->bytes[0] &&
           (leaf->counts[0] == leaf->counts[1] ||
            (double)leaf->bytes[1] <= (double)leaf->bytes[0] * ratio * ratio * 1.02);
}

/* Returns the largest leaf of the category that holds nothing any more, or NULL if there is
 * none. */
static const struct diff_leaf *find_dropped(const struct diff_tree *difference,
                                            enum category category)
{
    const struct diff_leaf *largest = NULL;
    for (size_t i = 0; i < difference->leaf_count; i++) {
        const struct diff_leaf *leaf = &difference->leaves[i];

        if (leaf->category == category && diff_leaf_delta(leaf) && !leaf->bytes[1] &&
            (!largest || leaf->bytes[0] > largest->bytes[0]))
            largest = leaf;
    }
    return largest;
}

/*
 * Returns the factor by which the input or the model grew, or 0 if the row is neither or did not
 * grow. If the row is new, the largest dropped leaf of the same category counts as its earlier
 * state, because another function or a new line now creates it (torch.cat instead of torch.randn,
 * .double() instead of .cuda()).
 */
static double cause_ratio(const struct diff_tree *difference, const struct diff_row *row)
{
    const struct diff_leaf *cause = row->leaf;
    const bool is_input = cause->category == CATEGORY_input;
    const struct diff_leaf *dropped =
        row->bytes[0] ? NULL : find_dropped(difference, cause->category);
    const uint64_t *bytes = cause->bytes[0] ? cause->bytes : row->bytes;
    const uint64_t *counts = cause->bytes[0] ? cause->counts : row->counts;
    const uint64_t before = dropped ? dropped->bytes[0] : bytes[0];
    const double ratio = before ? (double)bytes[1] / (double)before : 0;
    const bool is_cause = cause->category == CATEGORY_parameters ||
                          (is_input && (dropped ? dropped->counts[0] : counts[0]) == counts[1]);
    const double least = is_input ? LARGER_INPUT_RATIO : LARGER_MODEL_RATIO;
    return row->delta_bytes > 0 && is_cause && ratio >= least ? ratio : 0;
}

/* grown_bytes is the growth outside the cause; explained_bytes is the part of it that the cause
 * explains. */
struct explanation {
    uint64_t grown_bytes, explained_bytes;
};

static void explain_line(struct explanation *explanation, const struct diff_tree *difference,
                         const struct diff_node *node, const struct diff_row *row, double ratio)
{
    const bool is_model = row->leaf->category == CATEGORY_parameters;
    const bool is_larger = is_model && line_has_larger_blocks(difference, node);
    for (size_t i = node->first_leaf; i < node->leaf_end; i++) {
        const struct diff_leaf *leaf = &difference->leaves[i];
        const int64_t delta = diff_leaf_delta(leaf);

        if (delta <= 0 || leaf == row->leaf)
            continue;
        explanation->grown_bytes += (uint64_t)delta;
        if (is_model ? grew_with_model(leaf, ratio, is_larger) : grew_with(leaf, ratio))
            explanation->explained_bytes += (uint64_t)delta;
    }
}

static void explain(struct diff_tree *difference, struct diff_row *row)
{
    const double ratio = cause_ratio(difference, row);
    struct explanation explanation = {0};
    if (!ratio)
        return;
    for (size_t i = 0; i < difference->node_count; i++)
        explain_line(&explanation, difference, &difference->nodes[i], row, ratio);
    if (!explanation.explained_bytes || explanation.explained_bytes < explanation.grown_bytes / 2)
        return;
    row->explained_bytes = explanation.explained_bytes;
    row->explained_ratio = ratio;
}

/*
 * Rounds to tenths, so that rows whose factors are about the same (for example a wider data type)
 * are ordered by size.
 */
static int64_t tenths(double ratio)
{
    return (int64_t)fmin(ratio * 10 + 0.5, 1e15);
}

ORDER_BY(compare_rows, struct diff_row, ORDER(!a->explained_bytes, !b->explained_bytes),
         ORDER(tenths(b->explained_ratio), tenths(a->explained_ratio)),
         ORDER(b->delta_bytes > 0, a->delta_bytes > 0),
         ORDER(llabs(b->delta_bytes), llabs(a->delta_bytes)), strcmp(a->label, b->label));

static void order_rows(struct diff_tree *difference)
{
    size_t kept = 0;
    for (size_t i = 0; i < difference->row_count; i++)
        if (difference->rows[i].delta_bytes)
            difference->rows[kept++] = difference->rows[i];
    difference->row_count = kept;
    for (size_t i = 0; i < kept; i++)
        explain(difference, &difference->rows[i]);
    SORT(difference->rows, kept, compare_rows);
}

/* --- the whole difference --- */

int diff_tree_find(struct diff_tree *difference, const struct holding *before,
                   const struct holding *after, struct err *err)
{
    struct blaming blaming = {.difference = difference, .err = err};
    const struct call_path_tree *both[2];
    struct call_path_tree trees[2] = {{0}};
    struct functions functions;
    int status = -1;
    if (functions_of(&functions, (const struct holding *const[]){before, after}, err))
        return -1;
    *difference = (struct diff_tree){.names = after->names,
                                     .bytes = {before->total_bytes, after->total_bytes}};
    if (call_path_tree_make(&trees[0], before, &functions, err) ||
        call_path_tree_make(&trees[1], after, &functions, err))
        goto out;
    both[0] = &trees[0];
    both[1] = &trees[1];
    if (diff_tree_merge(difference, both, err) || count_places(&blaming) || blame_lines(&blaming))
        goto out;
    join_rows(difference);
    order_rows(difference);
    status = 0;
out:
    functions_release(&functions);
    free(blaming.uses);
    call_path_tree_release(&trees[0]);
    call_path_tree_release(&trees[1]);
    if (status)
        diff_tree_release(difference);
    return status;
}

void diff_tree_release(struct diff_tree *difference)
{
    free(difference->nodes);
    free(difference->leaves);
    free(difference->rows);
    text_set_release(&difference->labels);
    *difference = (struct diff_tree){0};
}
