/* SPDX-License-Identifier: MIT */
/* See reads.h. */
#include "reads.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_uint opens, replays;

void reads_count_open(void)
{
    opens++;
}

void reads_count_replay(void)
{
    replays++;
}

void reads_print(void)
{
    if (getenv("GPUMEMTRACE_COUNT_READS"))
        fprintf(stderr, "reads: traces opened %u, events replayed %u\n", opens, replays);
}
