/* SPDX-License-Identifier: MIT */
/* Processes on a card; see card_processes.h. */
#include "card_processes.h"

#include <stddef.h>

void card_processes_add(struct card_processes *reported, uint64_t pid, uint64_t bytes)
{
    size_t place = reported->others_count < CARD_PROCESSES_NAMED ? reported->others_count
                                                                 : CARD_PROCESSES_NAMED;
    reported->others_count++;
    reported->others_bytes += bytes;
    for (; place > 0 && reported->largest[place - 1].bytes < bytes; place--)
        if (place < CARD_PROCESSES_NAMED)
            reported->largest[place] = reported->largest[place - 1];
    if (place < CARD_PROCESSES_NAMED)
        reported->largest[place] = (struct card_process){pid, bytes};
}
