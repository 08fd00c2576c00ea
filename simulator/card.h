/* SPDX-License-Identifier: MIT */
/*
 * What the simulated driver tells the stand-in for NVML, which other programs ask the real driver
 * for in ways of its own: who holds memory of a card. It must not know either of the two.
 */
#ifndef GPUMEMTRACE_SIMULATOR_CARD_H
#define GPUMEMTRACE_SIMULATOR_CARD_H

#include <stdint.h>

#include "gpumemtrace/compiler.h"

/* The process that holds others= of the SPEC. */
#define SIM_OTHERS_PID 1

struct sim_process {
    unsigned pid;
    uint64_t bytes; /* its context included */
};

/* Of the card with that number on the machine, from 0, whether the process sees it and has
 * initialized CUDA or not. The uuid's 16 bytes; at most `most` processes. Returns how many there
 * are. */
typedef int sim_card_function(int index, char *uuid, struct sim_process *processes, unsigned most);
#define SIM_CARD_FUNCTION "gpumemtrace_simulator_card"
GMT_EXPORT sim_card_function gpumemtrace_simulator_card;

#endif
