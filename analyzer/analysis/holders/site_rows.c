/* SPDX-License-Identifier: MIT */
/* Sites of one line are one row; see site_rows.h. */
#include "site_rows.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

int site_rows_blame(struct blame *blame, struct symbols *symbols, const struct sites *sites,
                    struct err *err)
{
    struct blame_stack *stacks = array_new(sites->count, sizeof *stacks, err);

    if (!stacks)
        return -1;
    for (size_t i = 0; i < sites->count; i++)
        stacks[i] = site_stack(&sites->items[i]);
    const int status = blame_backwards(blame, symbols, stacks, sites->count, err);
    free(stacks);
    return status;
}

/* Rows of one size stand in the order of the sites, which does not differ between runs. */
static int compare_rows(const void *left, const void *right)
{
    const struct site_row *a = left, *b = right;

    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    return (a->largest > b->largest) - (a->largest < b->largest);
}

static void add_to_row(struct site_row *row, const struct site *site, const struct blamed *blamed)
{
    if (!row->blamed) { /* the largest site comes first */
        row->blamed = blamed;
        row->largest = site;
    }
    row->has_more_paths |= site->path != row->largest->path;
    row->has_more_categories |= site->category != row->largest->category;
    row->bytes += site->bytes;
    row->count += site->count;
}

int site_rows_of(struct site_row **rows, const struct sites *sites, const struct blame *blame,
                 struct err *err)
{
    const size_t lines = blame->texts.count;
    struct site_row *found = array_new(lines + sites->count, sizeof *found, err);
    size_t end = lines, count = 0;

    if (!found)
        return -1;
    for (size_t i = 0; i < sites->count; i++) {
        const struct site *site = &sites->items[i];
        const struct blamed *blamed = blame_of_backward(blame, site_stack(site));

        add_to_row(&found[blamed->is_known ? blamed->row : end++], site, blamed);
    }
    for (size_t i = 0; i < blame->count; i++)
        found[blame->items[i].row].stack_count++;
    for (size_t i = 0; i < end; i++)
        if (found[i].blamed)
            found[count++] = found[i];
    if (count)
        qsort(found, count, sizeof *found, compare_rows);
    *rows = found;
    return (int)count;
}
