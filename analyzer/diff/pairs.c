/* SPDX-License-Identifier: MIT */
/* Pairs equal lines of two runs; see pairs.h. */
#include "pairs.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

/* Beyond these limits, lines are paired by line number alone or are not paired. */
enum { CELLS_MAX = 1 << 20, LEFT_MAX = 256 };

struct child {
    const struct call_path_node *item;
    /* the line of the list that the line is inlined into, or the line itself */
    const struct call_path_node *host;
    uint32_t node; /* FRAME_TREE_NONE: it was paired */
};

struct pairing {
    const struct call_path_tree **trees;
    uint32_t *const *partners;
    /* of the node on each side, sorted by file, function and line, each before its inlined lines */
    struct child *children[2];
    size_t counts[2], capacities[2];
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
    pairing->partners[0][*a] = *b;
    pairing->partners[1][*b] = *a;
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

static int compare_functions(const struct call_path_node *a, const struct call_path_node *b)
{
    return a->file != b->file ? ORDER(a->file, b->file) : ORDER(a->call_line.key, b->call_line.key);
}

static size_t length_of_run(const struct pairing *pairing, int side, size_t first)
{
    const struct call_path_node *host = pairing->children[side][first].host;
    size_t end = first;
    while (end < pairing->counts[side] &&
           !compare_functions(pairing->children[side][end].host, host))
        end++;
    return end - first;
}

static int pair_functions(struct pairing *pairing)
{
    struct run run = {0};
    int status = 0;
    while (run.first[0] < pairing->counts[0] && run.first[1] < pairing->counts[1] && !status) {
        const int order = compare_functions(pairing->children[0][run.first[0]].host,
                                            pairing->children[1][run.first[1]].host);

        run.length[0] = order <= 0 ? length_of_run(pairing, 0, run.first[0]) : 0;
        run.length[1] = order >= 0 ? length_of_run(pairing, 1, run.first[1]) : 0;
        if (!order)
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
    const struct call_path_node *host_a = pairing->children[0][i].host;
    const struct call_path_node *host_b = pairing->children[1][j].host;
    const uint64_t common = call_path_node_likeness(a, b);
    if (host_a->call_line.key == host_b->call_line.key && host_a->file != host_b->file)
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

static void leave_alone(const struct pairing *pairing)
{
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < pairing->counts[side]; i++)
            if (pairing->children[side][i].node != FRAME_TREE_NONE)
                pairing->partners[side][pairing->children[side][i].node] = FRAME_TREE_NONE;
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
    const struct call_path_node *a = ((const struct child *)left)->item;
    const struct call_path_node *b = ((const struct child *)right)->item;
    const int order = compare_functions(a, b);
    return order ? order : ORDER(a->call_line.line, b->call_line.line);
}

/*
 * Lists the children of a node that have no partner yet, each followed by the lines that are
 * inlined into it. With a host, lists only the node's inlined children. The recursion is as deep as
 * the deepest stack.
 */
static int list_children(struct pairing *pairing, int side, uint32_t node,
                         const struct call_path_node *host)
{
    const struct call_path_tree *tree = pairing->trees[side];
    const struct frame_node *nodes = tree->lines.nodes;
    const uint32_t first = node == FRAME_TREE_NONE ? 0 : nodes[node].first;
    size_t count = 0;
    int status = 0;
    for (uint32_t at = first; at; at = nodes[at].next)
        count++;
    struct child *children = array_new(count, sizeof *children, pairing->err);
    if (!children)
        return -1;
    count = 0;
    for (uint32_t at = first; at; at = nodes[at].next)
        if (!pairing->partners[side][at] && (!host || tree->items[at].is_inlined))
            children[count++] = (struct child){&tree->items[at], host, at};
    SORT(children, count, compare_children);
    for (size_t i = 0; i < count && !status; i++) {
        struct child *child = &children[i];

        child->host = host ? host : child->item;
        status = ARRAY_GROW(pairing->children[side], pairing->capacities[side],
                            pairing->counts[side], pairing->err);
        if (!status) {
            pairing->children[side][pairing->counts[side]++] = *child;
            status = list_children(pairing, side, child->node, child->host);
        }
    }
    free(children);
    return status;
}

int partners_find(uint32_t *const partners[2], const struct call_path_tree *trees[2],
                  const uint32_t nodes[2], struct err *err)
{
    struct pairing pairing = {.trees = trees, .partners = partners, .err = err};
    int status = -1;
    if (list_children(&pairing, 0, nodes[0], NULL) || list_children(&pairing, 1, nodes[1], NULL) ||
        pair_functions(&pairing))
        goto out;
    drop_paired(&pairing);
    if (pairing.counts[0] <= LEFT_MAX && pairing.counts[1] <= LEFT_MAX)
        while (pair_best_left(&pairing))
            ;
    leave_alone(&pairing);
    status = 0;
out:
    free(pairing.children[0]);
    free(pairing.children[1]);
    return status;
}
