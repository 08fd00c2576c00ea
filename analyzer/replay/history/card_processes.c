/* SPDX-License-Identifier: MIT */
/* Who uses a card; see card_processes.h. */
#include "card_processes.h"

#include <stddef.h>

void card_processes_add(struct card_processes *told, uint64_t pid, uint64_t bytes)
{
    size_t place =
        told->others_count < CARD_PROCESSES_NAMED ? told->others_count : CARD_PROCESSES_NAMED;
    told->others_count++;
    told->others_bytes += bytes;
    for (; place > 0 && told->largest[place - 1].bytes < bytes; place--)
        if (place < CARD_PROCESSES_NAMED)
            told->largest[place] = told->largest[place - 1];
    if (place < CARD_PROCESSES_NAMED)
        told->largest[place] = (struct card_process){pid, bytes};
}
