/* SPDX-License-Identifier: MIT */
/*
 * What the simulated driver lets the values of a dry run (standins/values.py) do with the contents
 * of the cards. Nothing here is a CUDA call, and nothing allocates memory of a card. A tensor is
 * given as its first element's address, its shape and its strides, both in elements. It must not
 * know the framework.
 *
 * Each may be called by any thread.
 */
#ifndef GPUMEMTRACE_SIMULATOR_VALUES_H
#define GPUMEMTRACE_SIMULATOR_VALUES_H

#include <stdint.h>

#include "gpumemtrace/compiler.h"

/* Whether contents are kept. */
GMT_EXPORT int gpumemtrace_values_kept(void);

/* An operator begins on this thread: whoever calls this answers for all that its kernels write. Its
 * readings find the contents only where it hands its arguments to the host: memory that it takes
 * inside may hold what was there before. Returns whether a stream capture is open, in which nothing
 * runs. */
GMT_EXPORT int gpumemtrace_values_begin(int reads_arguments);
/* Returns how often the host read, within the operator, what nobody computed. */
GMT_EXPORT unsigned gpumemtrace_values_end(void);
/* What the operator's next such readings of at most 8 bytes find. */
GMT_EXPORT void gpumemtrace_values_expect(const int64_t *answers, unsigned count);

/* Copies the elements one after the other; unknown ones are 0. Returns 0: some are unknown, 1: some
 * are guessed, 2: all are known. */
GMT_EXPORT int gpumemtrace_values_read(uint64_t address, unsigned rank, const int64_t *shape,
                                       const int64_t *strides, unsigned element_bytes,
                                       void *elements);
/* state: as gpumemtrace_values_read returns; with 0 the elements are forgotten, and may be NULL. */
GMT_EXPORT void gpumemtrace_values_write(uint64_t address, unsigned rank, const int64_t *shape,
                                         const int64_t *strides, unsigned element_bytes,
                                         const void *elements, int state);
/* Elements that are unknown become these guesses; the others stay, and are put among them. */
GMT_EXPORT void gpumemtrace_values_guess(uint64_t address, unsigned rank, const int64_t *shape,
                                         const int64_t *strides, unsigned element_bytes,
                                         void *elements);

/* Of bytes without gaps: what is known of them, as gpumemtrace_values_read returns; and that nothing is. */
GMT_EXPORT int gpumemtrace_values_state(uint64_t address, uint64_t size_bytes);
GMT_EXPORT void gpumemtrace_values_forget(uint64_t address, uint64_t size_bytes);

/* --- readings of what nobody computed --- */

/* Counts one at this line of the program. Returns how many there were. */
GMT_EXPORT uint64_t gpumemtrace_values_note(const char *file, unsigned line);
/* The lines in the order of their first reading, from 0; at last those outside operators, with no
 * file and line 0. Returns the number of readings; 0: there are no more lines. Takes no lock, and
 * needs no cuInit. */
GMT_EXPORT uint64_t gpumemtrace_values_noted(unsigned number, char *file, unsigned file_bytes,
                                             unsigned *line);

#endif
