/* SPDX-License-Identifier: MIT */
/*
 * Lets several processes share the simulated cards: GPUMEMTRACE_SIM_SHARED names a file in which
 * each process records the bytes that it holds of each card. These bytes are not free for the other
 * processes. Without the setting each process has the cards for itself.
 *
 *     file:   header | slot 0: held bytes of card 0, 1, … 63 | slot 1 | … | slot 127
 *     locks:  byte 0: the table is being read or written; byte 1 + N: the owner of slot N lives
 *
 * When a process ends, even by a signal, the kernel releases the locks of the process, and the
 * memory that it held counts as free.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#pragma once

#include <stdint.h>

#include "gpumemtrace/err.h"

/* Takes a slot in the file, if the setting names a file. All processes must pass the same
 * spec_text. */
int shared_open(const char *spec_text, struct err *err);

/* Opens the file to read only, without a slot. Has no effect after shared_open or if there is no
 * such file. */
void shared_look(void);

/* Locks and unlocks the table. Other processes cannot change their figures in between. */
void shared_lock(void);
void shared_unlock(void);
/* Call with the table locked. Returns the bytes of the card that other live processes hold. */
uint64_t shared_others_bytes(int index);
/* Call with the table locked. Returns the bytes of the card that the process with this slot (from
 * 0) holds, and sets *pid. A result of 0 does not end the list, because the process of a later slot
 * may hold memory. */
#define SHARED_SLOTS 128
uint64_t shared_other_bytes(int slot, int index, int *pid);
/* Call with the table locked. Records the bytes that this process now holds of the card. */
void shared_hold(int index, uint64_t held_bytes);
