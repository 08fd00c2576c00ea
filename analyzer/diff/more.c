/* SPDX-License-Identifier: MIT */
/* Finds the growth from one device to another; see more.h. */
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

int more_find(struct more *more, const struct study *less, int less_device,
              const struct study *study, int device, bool of_driver, struct err *err)
{
    const struct run_diff_side before = side_of(less, less_device, of_driver),
                               after = side_of(study, device, of_driver);
    struct run_diff change;
    if (run_diff_find(&change, &before, &after, err))
        return -1;
    *more = more_of(&change);
    run_diff_release(&change);
    return 0;
}
