/* SPDX-License-Identifier: MIT */
/* One answer of NVML to the program: the processes that use a card, with their bytes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct card_process {
    uint64_t pid, bytes;
};

enum { CARD_PROCESSES_NAMED = 4 };

struct card_processes {
    /*
     * True if the answer names this process and gives the bytes of each process. It is false in a
     * container, for example, if NVML's process ids differ from the ids inside the container.
     */
    bool is_known;
    uint64_t own_bytes, others_bytes; /* own_bytes include context and modules */
    uint64_t others_count;
    struct card_process largest[CARD_PROCESSES_NAMED]; /* of other processes, largest first */
};

/* Adds one of the other processes. */
void card_processes_add(struct card_processes *reported, uint64_t pid, uint64_t bytes);
