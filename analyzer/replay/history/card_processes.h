/* SPDX-License-Identifier: MIT */
/*
 * One answer of NVML to the program: who uses a card. It must not know why the program asked.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_CARD_PROCESSES_H
#define GPUMEMTRACE_ANALYZER_REPLAY_CARD_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

struct card_process {
    uint64_t pid, bytes;
};

enum { CARD_PROCESSES_NAMED = 4 };

struct card_processes {
    /* It names this process, and has the bytes of each. Else it says nothing: in a container, the
     * processes may have other numbers than they know themselves by. */
    bool is_known;
    uint64_t own_bytes, others_bytes; /* own: with context and modules */
    uint64_t others_count;
    struct card_process largest[CARD_PROCESSES_NAMED]; /* of the others, the largest first */
};

/* One more of the others. */
void card_processes_add(struct card_processes *reported, uint64_t pid, uint64_t bytes);

#endif
