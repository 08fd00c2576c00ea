/* SPDX-License-Identifier: MIT */
/*
 * What device memory holds, as far as it is known: pages of bytes by address, each byte unknown,
 * guessed or known. Bounded: when there are too many pages, the oldest is forgotten. It must not
 * know what allocations there are or who computes values.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_CONTENTS_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_CONTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest copy or fill whose contents are kept, and the most bytes kept in all. */
#define CONTENTS_COPY_BYTES_MAX ((uint64_t)1 << 20)
#define CONTENTS_BYTES_MAX ((uint64_t)64 << 20)

/* Of a byte; of a range, the least of its bytes. */
enum contents_state { CONTENTS_UNKNOWN, CONTENTS_GUESSED, CONTENTS_KNOWN };

/* Whether contents are kept at all (GPUMEMTRACE_VALUES). */
bool contents_are_kept(void);

/* The range's state. */
enum contents_state contents_least(uint64_t address, uint64_t size_bytes);
/* Reads the bytes; unknown ones are 0. Returns the range's state. */
enum contents_state contents_read(uint64_t address, uint64_t size_bytes, void *bytes);
void contents_write(uint64_t address, uint64_t size_bytes, const void *bytes,
                    enum contents_state state);
/* Unknown bytes become these guesses; the others stay, and are put into *bytes. */
void contents_guess(uint64_t address, uint64_t size_bytes, void *bytes);
/* Both ranges may overlap. */
void contents_copy(uint64_t to, uint64_t from, uint64_t size_bytes);
void contents_forget(uint64_t address, uint64_t size_bytes);
void contents_forget_all(void);

#endif
