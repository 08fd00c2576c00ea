/* SPDX-License-Identifier: MIT */
/*
 * The function by which the stand-in for NVML asks the simulated driver who holds memory of a card.
 * (NVIDIA's libraries have an interface of their own for that.)
 */
#pragma once

#include <stdint.h>

#include "gpumemtrace/compiler.h"

/* The process that stands for others= of the SPEC. */
#define SIM_OTHERS_PID 1

struct sim_process {
    unsigned pid;
    uint64_t bytes; /* includes its context */
};

/* Describes the card with this index on the machine, from 0, even if the process does not see it or
 * has not initialized CUDA. uuid: 16 bytes, output. Fills at most `most` processes and returns how
 * many there are. */
typedef int sim_card_function(int index, char *uuid, struct sim_process *processes, unsigned most);
#define SIM_CARD_FUNCTION "gpumemtrace_simulator_card"
GMT_EXPORT sim_card_function gpumemtrace_simulator_card;
