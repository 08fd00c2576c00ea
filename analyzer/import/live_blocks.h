/* SPDX-License-Identifier: MIT */
/* Blocks that are live while a log is read, by address, and their bytes. It must not know who gave them. */
#ifndef GPUMEMTRACE_ANALYZER_IMPORT_LIVE_BLOCKS_H
#define GPUMEMTRACE_ANALYZER_IMPORT_LIVE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/util/pair_map.h"

/* No machine has as much; a block is no larger, and two of them are still a number. */
#define LIVE_BYTES_MOST ((uint64_t)1 << 61)

struct live_blocks { /* zeroed: there is none */
    struct pair_map sizes;
    uint64_t bytes; /* all */
};

/* One that is there already is replaced. */
int live_blocks_add(struct live_blocks *blocks, uint64_t address, uint64_t size_bytes,
                    struct err *err);
/* False: none began there. */
bool live_blocks_take(struct live_blocks *blocks, uint64_t address, uint64_t *size_bytes);
void live_blocks_release(struct live_blocks *blocks);

#endif
