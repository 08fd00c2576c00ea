/* SPDX-License-Identifier: MIT */
/* Joins items with the same line to blame; see joined.h. */
#include "joined.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"

static uint32_t stack_of(const struct joinable *what, const char *item)
{
    uint32_t stack_id;

    memcpy(&stack_id, item + what->stack_offset, sizeof stack_id);
    return stack_id;
}

int joined_blame(struct blame *blame, struct symbols *symbols, const struct joinable *what,
                 const void *items, size_t count, struct err *err)
{
    uint64_t *sites = array_new(count, sizeof *sites, err);

    if (!sites)
        return -1;
    for (size_t i = 0; i < count; i++)
        sites[i] = stack_of(what, (const char *)items + i * what->item_bytes);
    const int status = blame_sites(blame, symbols, sites, count, err);
    free(sites);
    return status;
}

void *joined_items(const struct blame *blame, const struct joinable *what, const void *items,
                   size_t *count, struct err *err)
{
    uint32_t *numbers =
        array_new(blame->texts.count + 1, sizeof *numbers, err); /* by row, from 1 */
    char *joined = array_new(*count, what->item_bytes, err);
    size_t end = 0;

    for (size_t i = 0; numbers && joined && i < *count; i++) {
        const char *item = (const char *)items + i * what->item_bytes;
        uint32_t *number = &numbers[blame_of(blame, stack_of(what, item))->row];

        if (*number) {
            what->join(joined + (*number - 1) * what->item_bytes, item);
            continue;
        }
        memcpy(joined + end * what->item_bytes, item, what->item_bytes);
        *number = (uint32_t)++end;
    }
    if (numbers && joined) {
        *count = end;
        if (end)
            qsort(joined, end, what->item_bytes, what->compare);
    } else {
        free(joined);
        joined = NULL;
    }
    free(numbers);
    return joined;
}

size_t joined_others(const struct blame *blame, const struct joinable *what, const void *items,
                     size_t count, const struct blamed *blamed)
{
    size_t alike = 0;

    for (size_t i = 0; i < count; i++)
        alike += blame_of(blame, stack_of(what, (const char *)items + i * what->item_bytes))->row ==
                 blamed->row;
    return blamed->is_known ? alike - 1 : 0;
}
