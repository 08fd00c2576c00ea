/* SPDX-License-Identifier: MIT */
/* Finds the functions and files that only one of two runs calls; see functions.h. */
#include "functions.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

int functions_of(struct functions *functions, const struct holding *const runs[2], struct err *err)
{
    functions->runs = array_new(runs[0]->names->count, sizeof *functions->runs, err);
    if (!functions->runs)
        return -1;
    for (int run = 0; run < 2; run++)
        for (size_t i = 0; i < runs[run]->count; i++) {
            const struct held_site *site = &runs[run]->items[i];

            for (size_t n = 0; n < site->depth; n++) {
                functions->runs[site->call_path[n].key] |= (uint8_t)(1 << run);
                functions->runs[site->call_path[n].file] |= (uint8_t)(1 << run);
            }
        }
    return 0;
}

void functions_release(struct functions *functions)
{
    free(functions->runs);
    *functions = (struct functions){0};
}
