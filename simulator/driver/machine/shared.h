/* SPDX-License-Identifier: MIT */
/*
 * Lets several processes share the simulated cards: GPUMEMTRACE_SIM_SHARED names a file in which
 * each process records how much it holds of each card, which the others then lack. Without the
 * setting every process has the cards to itself.
 *
 *     file:   header | slot 0: held bytes of card 0, 1, … 63 | slot 1 | … | slot 127
 *     locks:  byte 0: the table is being read or written; byte 1 + N: the owner of slot N lives
 *
 * The system releases a process's locks however it dies; its memory then counts as free.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_SHARED_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_SHARED_H

#include <stdint.h>

#include "gpumemtrace/err.h"

/* Takes a slot in the file, if one is named. All processes must pass the same spec_text. */
int shared_open(const char *spec_text, struct err *err);

/* To see what the others hold, without a slot: does nothing if shared_open was called, or there is
 * no such file. */
void shared_look(void);

/* No other process's figures change between these two calls. */
void shared_lock(void);
void shared_unlock(void);
/* Call locked. The bytes that other live processes hold of the card. */
uint64_t shared_others_bytes(int index);
/* Call locked. The same of one slot, from 0; *pid is its process. 0: another slot may still hold some. */
#define SHARED_SLOTS 128
uint64_t shared_other_bytes(int slot, int index, int *pid);
/* Call locked. Records the bytes that this process now holds of the card. */
void shared_hold(int index, uint64_t held_bytes);

#endif
