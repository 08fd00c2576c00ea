/* SPDX-License-Identifier: MIT */
/*
 * Finds a block that a line replaces by a larger one: it makes the larger block, copies, and then
 * frees the old one, so both are live at once. A vector that grows and a grid that is refined do
 * so.
 *
 *     event   100 refine() makes 8 GiB     101 the 4 GiB of refine() are freed
 *             ▲ the peak
 */
#pragma once

#include "analyzer/blame/blame.h"
#include "analyzer/replay/history/history.h"

struct replaced {
    const struct block *made, *old; /* both NULL: event `index` replaces nothing */
};

/* Looks at the blocks of the account that were live right after the event. blame: of their sites */
struct replaced replaced_at(const struct history *history, uint32_t account, uint64_t index,
                            const struct blame *blame);
