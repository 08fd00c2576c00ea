/* SPDX-License-Identifier: MIT */
/* Pairs equal lines of two runs; see pairs.h. */
#include "pairs.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

/* Beyond these limits, lines are paired by line number alone or are not paired. */
enum { CELLS_MAX = 1 << 20, LEFT_MAX = 256 };

struct child {
    const struct call_path_node *item;
    uint32_t node; /* FRAME_TREE_NONE: it was paired */
};

struct pairing {
    struct child *children[2]; /* of the node on each side, sorted by file, function and line */
    size_t counts[2];
    struct node_pair *pairs;
    size_t count;
    struct err *err;
};

/* The lines of one function on each side. */
struct run {
    size_t first[2], length[2];
};

static const struct call_path_node *node_of(const struct pairing *pairing, int side, size_t number)
{
    return pairing->children[side][number].item;
}

static void add_pair(struct pairing *pairing, size_t before, size_t after)
{
    uint32_t *a = &pairing->children[0][before].node, *b = &pairing->children[1][after].node;
    pairing->pairs[pairing->count++] = (struct node_pair){{*a, *b}};
    *a = *b = FRAME_TREE_NONE;
}

/* --- the lines of one function, in their order --- */

static uint64_t larger_of(const struct call_path_node *a, const struct call_path_node *b)
{
    return a->each_bytes > b->each_bytes ? a->each_bytes : b->each_bytes;
}

/*
 * Returns the score of a pair: the bytes in common, plus the same bytes weighted by their share of
 * the larger line.
 */
static uint64_t worth(const struct pairing *pairing, const struct run *run, size_t i, size_t j)
{
    const struct call_path_node *a = node_of(pairing, 0, run->first[0] + i);
    const struct call_path_node *b = node_of(pairing, 1, run->first[1] + j);
    const uint64_t common = call_path_node_likeness(a, b), larger = larger_of(a, b);
    const double share = larger ? (double)common / (double)larger : 0;

    return common + (uint64_t)((double)common * share) + 1;
}

static void pair_equal_lines(struct pairing *pairing, const struct run *run)
{
    size_t i = 0, j = 0;
    while (i < run->length[0] && j < run->length[1]) {
        const uint32_t a = node_of(pairing, 0, run->first[0] + i)->call_line.line;
        const uint32_t b = node_of(pairing, 1, run->first[1] + j)->call_line.line;

        if (a == b)
            add_pair(pairing, run->first[0] + i, run->first[1] + j);
        i += a <= b;
        j += b <= a;
    }
}

/*
 * Takes a column from j on that is a best partner of line i. If there are several, takes the one
 * that moved as far as the pair before it. If none did, takes the first one, because a copied line
 * usually stands below the original. Returns the number of columns if there is no partner.
 */
static size_t best_column(const struct pairing *pairing, const struct run *run,
                          const uint64_t *best, size_t i, size_t j, int64_t moved)
{
    const size_t columns = run->length[1], width = columns + 1;
    const int64_t line = node_of(pairing, 0, run->first[0] + i)->call_line.line;
    const uint64_t here = best[i * width + j];
    size_t first = columns;
    for (; j < columns && best[i * width + j] == here; j++) {
        if (here != best[(i + 1) * width + j + 1] + worth(pairing, run, i, j))
            continue;
        if (node_of(pairing, 1, run->first[1] + j)->call_line.line - line == moved)
            return j;
        first = first < j ? first : j;
    }
    return first;
}

static void pair_best(struct pairing *pairing, const struct run *run, const uint64_t *best)
{
    const size_t rows = run->length[0], columns = run->length[1];
    int64_t moved = 0;
    for (size_t i = 0, j = 0; i < rows && j < columns; i++) {
        const size_t found = best_column(pairing, run, best, i, j, moved);

        if (found == columns)
            continue;
        moved = (int64_t)node_of(pairing, 1, run->first[1] + found)->call_line.line -
                node_of(pairing, 0, run->first[0] + i)->call_line.line;
        add_pair(pairing, run->first[0] + i, run->first[1] + found);
        j = found + 1;
    }
}

/*
 * Pairs lines in their order, like the longest common subsequence, but by their score. best[i][j]
 * is the highest total score of the lines from i and j on.
 */
static int pair_lines(struct pairing *pairing, const struct run *run)
{
    const size_t rows = run->length[0], columns = run->length[1], width = columns + 1;
    uint64_t *best;
    if (rows * columns > CELLS_MAX) {
        pair_equal_lines(pairing, run);
        return 0;
    }
    best = array_new((rows + 1) * width, sizeof *best, pairing->err);
    if (!best)
        return -1;
    for (size_t i = rows; i-- > 0;)
        for (size_t j = columns; j-- > 0;) {
            const uint64_t both = best[(i + 1) * width + j + 1] + worth(pairing, run, i, j);
            const uint64_t one = best[(i + 1) * width + j], other = best[i * width + j + 1];

            best[i * width + j] = both >= one && both >= other ? both : one > other ? one : other;
        }
    pair_best(pairing, run, best);
    free(best);
    return 0;
}

static bool is_same_function(const struct call_line *a, const struct call_line *b)
{
    return a->file == b->file && a->key == b->key;
}

static bool is_before(const struct call_line *a, const struct call_line *b)
{
    return a->file != b->file ? a->file < b->file : a->key < b->key;
}

static size_t length_of_run(const struct pairing *pairing, int side, size_t first)
{
    const struct call_line *call_line = &node_of(pairing, side, first)->call_line;
    size_t end = first;
    while (end < pairing->counts[side] &&
           is_same_function(&node_of(pairing, side, end)->call_line, call_line))
        end++;
    return end - first;
}

static int pair_functions(struct pairing *pairing)
{
    struct run run = {0};
    int status = 0;
    while (run.first[0] < pairing->counts[0] && run.first[1] < pairing->counts[1] && !status) {
        const struct call_line a = node_of(pairing, 0, run.first[0])->call_line;
        const struct call_line b = node_of(pairing, 1, run.first[1])->call_line;
        const bool is_same = is_same_function(&a, &b);

        run.length[0] = is_same || is_before(&a, &b) ? length_of_run(pairing, 0, run.first[0]) : 0;
        run.length[1] = is_same || !is_before(&a, &b) ? length_of_run(pairing, 1, run.first[1]) : 0;
        if (is_same)
            status = pair_lines(pairing, &run);
        run.first[0] += run.length[0];
        run.first[1] += run.length[1];
    }
    return status;
}

/* --- lines that are left --- */

/*
 * Returns how well two lines match. A function of the same name in another file ranks first, a line
 * with similar calls second. Returns 0 if the two are neither.
 */
static uint64_t likeness_left(const struct pairing *pairing, size_t i, size_t j)
{
    const struct call_path_node *a = node_of(pairing, 0, i), *b = node_of(pairing, 1, j);
    const uint64_t common = call_path_node_likeness(a, b);
    if (a->call_line.key == b->call_line.key && a->call_line.file != b->call_line.file)
        return UINT64_MAX / 2 + common;
    return common >= larger_of(a, b) / 2 ? common : 0;
}

static bool pair_best_left(struct pairing *pairing)
{
    uint64_t best = 0;
    size_t before = 0, after = 0;
    for (size_t i = 0; i < pairing->counts[0]; i++)
        for (size_t j = 0;
             j < pairing->counts[1] && pairing->children[0][i].node != FRAME_TREE_NONE; j++) {
            const uint64_t found =
                pairing->children[1][j].node == FRAME_TREE_NONE ? 0 : likeness_left(pairing, i, j);

            if (found > best) {
                best = found;
                before = i;
                after = j;
            }
        }
    if (best)
        add_pair(pairing, before, after);
    return best > 0;
}

static void add_alone(struct pairing *pairing)
{
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < pairing->counts[side]; i++)
            if (pairing->children[side][i].node != FRAME_TREE_NONE) {
                struct node_pair *pair = &pairing->pairs[pairing->count++];

                *pair = (struct node_pair){{FRAME_TREE_NONE, FRAME_TREE_NONE}};
                pair->nodes[side] = pairing->children[side][i].node;
            }
}

static void drop_paired(struct pairing *pairing)
{
    for (int side = 0; side < 2; side++) {
        size_t kept = 0;

        for (size_t i = 0; i < pairing->counts[side]; i++)
            if (pairing->children[side][i].node != FRAME_TREE_NONE)
                pairing->children[side][kept++] = pairing->children[side][i];
        pairing->counts[side] = kept;
    }
}

/* --- both ways of pairing --- */

static int compare_children(const void *left, const void *right)
{
    const struct call_line *a = &((const struct child *)left)->item->call_line;
    const struct call_line *b = &((const struct child *)right)->item->call_line;
    if (!is_same_function(a, b))
        return is_before(a, b) ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

static int list_children(struct pairing *pairing, int side, const struct call_path_tree *tree,
                         uint32_t node)
{
    const struct frame_node *nodes = tree->lines.nodes;
    const uint32_t first = node == FRAME_TREE_NONE ? 0 : nodes[node].first;
    size_t count = 0;
    for (uint32_t at = first; at; at = nodes[at].next)
        count++;
    struct child *children = array_new(count, sizeof *children, pairing->err);
    pairing->children[side] = children;
    if (!children)
        return -1;
    for (uint32_t at = first; at; at = nodes[at].next)
        children[pairing->counts[side]++] = (struct child){&tree->items[at], at};
    SORT(children, count, compare_children);
    return 0;
}

int node_pairs_find(struct node_pair **pairs, const struct call_path_tree *trees[2],
                    const uint32_t nodes[2], struct err *err)
{
    struct pairing pairing = {.err = err};
    int status = -1;
    if (list_children(&pairing, 0, trees[0], nodes[0]) ||
        list_children(&pairing, 1, trees[1], nodes[1]))
        goto out;
    pairing.pairs = array_new(pairing.counts[0] + pairing.counts[1], sizeof *pairing.pairs, err);
    if (!pairing.pairs || pair_functions(&pairing))
        goto out;
    drop_paired(&pairing);
    if (pairing.counts[0] <= LEFT_MAX && pairing.counts[1] <= LEFT_MAX)
        while (pair_best_left(&pairing))
            ;
    add_alone(&pairing);
    status = (int)pairing.count;
    *pairs = pairing.pairs;
    pairing.pairs = NULL;
out:
    free(pairing.children[0]);
    free(pairing.children[1]);
    free(pairing.pairs);
    return status;
}
