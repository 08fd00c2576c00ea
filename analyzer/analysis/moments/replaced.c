/* SPDX-License-Identifier: MIT */
/* A block that a line replaces by a larger one; see replaced.h. */
#include "replaced.h"

#include <string.h>

#include "analyzer/replay/history/live_walk.h"

enum { EVENTS_MOST = 8 }; /* between the new block and the free, such as those of phases */

struct replaced replaced_at(const struct history *history, uint32_t account, uint64_t index,
                            const struct blame *blame)
{
    struct replaced found = {0};
    struct live_walk walk = live_walk_begin(history, account, index);
    for (const struct block *block; (block = live_walk_next(&walk));) {
        if (block->life.begin_index == index)
            found.made = block;
        else if (block->life.end_index - index <= EVENTS_MOST &&
                 (!found.old || block->life.end_index < found.old->life.end_index))
            found.old = block; /* the first to be freed */
    }
    const bool is_replaced = found.made && found.old &&
                             found.made->size_bytes > found.old->size_bytes &&
                             !strcmp(blame_of(blame, found.made->site_id)->label,
                                     blame_of(blame, found.old->site_id)->label);
    return is_replaced ? found : (struct replaced){0};
}
