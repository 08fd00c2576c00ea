/* SPDX-License-Identifier: MIT */
/* Joins the sites of one line into a row; see site_rows.h. */
#include "site_rows.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

int site_rows_blame_first(struct blame *blame, struct symbols *symbols, const struct sites *sites,
                          size_t said, struct err *err)
{
    uint64_t *ids = array_new(sites->count, sizeof *ids, err);
    size_t live = 0;
    if (!ids)
        return -1;
    for (size_t i = 0; i < sites->count; i++) {
        ids[i] = sites->items[i].site_id;
        live += sites->items[i].count > 0;
    }
    const int status = blame_first(blame, symbols, ids, sites->count, said, live, err);
    free(ids);
    return status;
}

int site_rows_blame(struct blame *blame, struct symbols *symbols, const struct sites *sites,
                    struct err *err)
{
    return site_rows_blame_first(blame, symbols, sites, sites->count, err);
}

/* Rows of equal size keep the order of the sites, which is the same in every run. */
ORDER_BY(compare_rows, struct site_row, FALLING(bytes), RISING(largest));

/* Gives numbers to phases by their text, and to rows without a stack. */
struct readings {
    const struct history *history;
    struct text_set phases;
    struct pair_map rows; /* by category and phase */
    size_t row_count;
};

/* The phase's number, from 1; 0: outside any. TEXT_SET_NONE: out of memory. */
static uint32_t phase_of(struct readings *readings, const struct site *site, struct err *err)
{
    if (site->path == HISTORY_NONE)
        return 0;
    const uint32_t number =
        text_set_add(&readings->phases, readings->history->paths[site->path].text, err);
    return number == TEXT_SET_NONE ? TEXT_SET_NONE : number + 1;
}

/* Number of a row without a stack. PAIR_MAP_NONE: out of memory. */
static uint32_t row_without_stack(struct readings *readings, const struct site *site,
                                  uint32_t phase, struct err *err)
{
    uint32_t row = pair_map_get(&readings->rows, (uint32_t)site->category, phase);
    if (row != PAIR_MAP_NONE)
        return row;
    row = (uint32_t)readings->row_count++;
    return pair_map_put(&readings->rows, (uint32_t)site->category, phase, row, err) ? PAIR_MAP_NONE
                                                                                    : row;
}

static void readings_release(struct readings *readings)
{
    text_set_release(&readings->phases);
    pair_map_release(&readings->rows);
}

static void add_to_row(struct site_row *row, const struct site *site, const struct blamed *blamed,
                       uint32_t phase)
{
    if (!row->blamed) { /* the first site is the largest, because sites are sorted by bytes */
        row->blamed = blamed;
        row->largest = site;
        row->phase = phase;
    }
    row->has_more_paths |= phase != row->phase;
    row->has_more_categories |= site->category != row->largest->category;
    row->bytes += site->bytes;
    row->count += site->count;
}

/* Adds the sites to their rows. The rows of lines come first, followed by the rows without a
 * stack. */
static int add_sites_to_rows(struct site_row *rows, const struct history *history,
                             const struct sites *sites, const struct blame *blame, struct err *err)
{
    struct readings readings = {.history = history};
    int status = 0;
    for (size_t i = 0; i < sites->count && !status; i++) {
        const struct site *site = &sites->items[i];
        const struct blamed *blamed = blame_of(blame, site->site_id);
        const uint32_t phase = phase_of(&readings, site, err);
        size_t row = blamed->row;

        status = phase == TEXT_SET_NONE ? -1 : 0;
        if (!status && !blamed->is_known) {
            const uint32_t number = row_without_stack(&readings, site, phase, err);
            status = number == PAIR_MAP_NONE ? -1 : 0;
            row = blame->texts.count + number;
        }
        if (!status)
            add_to_row(&rows[row], site, blamed, phase);
    }
    readings_release(&readings);
    return status;
}

int site_rows_of(struct site_row **rows, const struct history *history, const struct sites *sites,
                 const struct blame *blame, struct err *err)
{
    const size_t most = blame->texts.count + sites->count;
    struct site_row *found = array_new(most, sizeof *found, err);
    size_t count = 0;
    if (!found)
        return -1;
    if (add_sites_to_rows(found, history, sites, blame, err)) {
        free(found);
        return -1;
    }
    for (size_t i = 0; i < blame->count; i++)
        found[blame->items[i].row].stack_count++;
    for (size_t i = 0; i < most; i++)
        if (found[i].blamed)
            found[count++] = found[i];
    SORT(found, count, compare_rows);
    *rows = found;
    return (int)count;
}
