/* SPDX-License-Identifier: MIT */
/*
 * Several processes on the same simulated cards: GPUMEMTRACE_SIM_SHARED names a file in which each
 * process says how much it holds of each card, so that the others have that much less. Without the
 * setting every process has the cards to itself.
 *
 *     file:   header | slot 0: held bytes of card 0, 1, … 63 | slot 1 | … | slot 127
 *     locks:  byte 0: the table is being read or written; byte 1 + N: the owner of slot N lives
 *
 * The system gives up a process's locks when it dies, however it does, and so what it held.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_SHARED_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_SHARED_H

#include <stdint.h>

#include "gpumemtrace/err.h"

/* Takes a slot in the file, if one is named. spec_text: all processes must ask for the same. */
int shared_open(const char *spec_text, struct err *err);

/* Between these two no other process's figures change. */
void shared_lock(void);
void shared_unlock(void);
/* Locked. What other living processes hold of the card. */
uint64_t shared_others_bytes(int index);
/* Locked. What this process holds of it from now on. */
void shared_hold(int index, uint64_t held_bytes);

#endif
