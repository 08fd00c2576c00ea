/* SPDX-License-Identifier: MIT */
/*
 * The known contents of device memory, kept as pages of bytes by address. Each byte is unknown,
 * guessed or known. The number of pages is limited: when there is no room for a new page, the
 * oldest page is forgotten.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first is the size of the largest copy or fill whose contents are kept. The second is the
 * limit of all bytes that are kept. */
#define CONTENTS_COPY_BYTES_MAX ((uint64_t)1 << 20)
#define CONTENTS_BYTES_MAX ((uint64_t)64 << 20)

/* The state of a byte; a range has the lowest state of its bytes. */
enum contents_state { CONTENTS_UNKNOWN, CONTENTS_GUESSED, CONTENTS_KNOWN };

/* Whether contents are kept at all (GPUMEMTRACE_VALUES). */
bool contents_are_kept(void);

/* The range's state. */
enum contents_state contents_least(uint64_t address, uint64_t size_bytes);
/* Reads the bytes; unknown ones are 0. Returns the range's state. */
enum contents_state contents_read(uint64_t address, uint64_t size_bytes, void *bytes);
void contents_write(uint64_t address, uint64_t size_bytes, const void *bytes,
                    enum contents_state state);
/* Replaces the unknown bytes of the range by the guesses in *bytes, and copies the other bytes of
 * the range to *bytes. */
void contents_guess(uint64_t address, uint64_t size_bytes, void *bytes);
/* The ranges may overlap. */
void contents_copy(uint64_t to, uint64_t from, uint64_t size_bytes);
void contents_forget(uint64_t address, uint64_t size_bytes);
void contents_forget_all(void);
