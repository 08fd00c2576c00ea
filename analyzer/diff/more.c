/* SPDX-License-Identifier: MIT */
/* Growth from one device to another; see more.h. */
#include "more.h"

#include <stdio.h>
#include <string.h>

static struct run_diff_side side_of(const struct study *study, int device, bool of_driver)
{
    const struct device_use *use = history_device(&study->history, device);
    const uint32_t number = !use ? 0 : of_driver ? use->accounts[ACCOUNT_device] : use->leading;
    const struct account *account = use ? &study->history.accounts[number] : NULL;

    return (struct run_diff_side){.study = account ? study : NULL,
                                  .account = number,
                                  .at = account ? account->peak
                                                : (struct moment){.index = INDEX_NONE}};
}

struct more more_of(const struct run_diff *change)
{
    const struct diff_row *row = run_diff_guilty(change), *next = run_diff_next(change);
    struct more more = {0};

    if (!row)
        return more;
    snprintf(more.site, sizeof more.site, "%s", row->label);
    more.category = row->leaf->category;
    more.bytes = (uint64_t)row->delta_bytes;
    more.explained_bytes = row->explained_bytes;
    more.explained_ratio = row->explained_ratio;
    if (row->node) {
        const struct call_line *call_line = &change->difference.nodes[row->node].call_line;

        snprintf(more.file, sizeof more.file, "%s", change->names.texts[call_line->file]);
        more.line = call_line->line;
    }
    if (next && next->delta_bytes >= row->delta_bytes / 2) {
        snprintf(more.next_site, sizeof more.next_site, "%s", next->label);
        more.next_bytes = (uint64_t)next->delta_bytes;
    }
    return more;
}

static int compare(struct more *more, const struct run_diff_side *less,
                   const struct run_diff_side *side, struct err *err)
{
    struct run_diff change;

    if (run_diff_find(&change, less, side, err))
        return -1;
    *more = more_of(&change);
    run_diff_release(&change);
    return 0;
}

int more_find(struct more *more, const struct more_side *less, const struct more_side *side,
              bool of_driver, struct err *err)
{
    const struct study_ask ask = {0};
    const bool is_one_trace = !strcmp(less->path, side->path);
    struct study studies[2];
    int status = -1;

    if (study_open(&studies[0], less->path, &ask, err))
        return -1;
    trace_close_events(&studies[0].trace);
    if (!is_one_trace && study_open(&studies[1], side->path, &ask, err))
        goto out;
    const struct study *other = &studies[is_one_trace ? 0 : 1];
    const struct run_diff_side before = side_of(&studies[0], less->device, of_driver),
                               after = side_of(other, side->device, of_driver);
    status = compare(more, &before, &after, err);
    if (!is_one_trace)
        study_release(&studies[1]);
out:
    study_release(&studies[0]);
    return status;
}

int more_find_within(struct more *more, const struct study *study, int less, int device,
                     struct err *err)
{
    const struct run_diff_side before = side_of(study, less, false),
                               after = side_of(study, device, false);

    return compare(more, &before, &after, err);
}
