/* SPDX-License-Identifier: MIT */
/*
 * The functions by which standins/values.py, which computes the values of a dry run, accesses the
 * contents of simulated cards. These functions are no CUDA calls, and none of them allocates memory
 * of a card. A tensor is given by its first element's address, its shape and its strides, both in
 * elements.
 *
 * Any thread may call each function.
 */
#pragma once

#include <stdint.h>

#include "gpumemtrace/compiler.h"

/* Returns whether contents are kept. */
GMT_EXPORT int gpumemtrace_values_kept(void);

/* Begins an operator on this thread: the caller writes the results of all its kernels.
 * reads_arguments: the operator copies its arguments to the host, so its readings return contents.
 * If it is 0, they return no contents, because memory that the operator allocates may have stale
 * contents. Returns whether a stream capture is open, in which nothing runs. */
GMT_EXPORT int gpumemtrace_values_begin(int reads_arguments);
/* Ends the operator. Returns how many of its readings found values that were not computed. */
GMT_EXPORT unsigned gpumemtrace_values_end(void);
/* Sets the values that the operator's next readings of at most 8 bytes return. */
GMT_EXPORT void gpumemtrace_values_expect(const int64_t *answers, unsigned count);

/* Copies the elements to a dense array; unknown elements are 0. Returns 0: some are unknown, 1:
 * some are guessed, 2: all are known. */
GMT_EXPORT int gpumemtrace_values_read(uint64_t address, unsigned rank, const int64_t *shape,
                                       const int64_t *strides, unsigned element_bytes,
                                       void *elements);
/* state: as gpumemtrace_values_read returns. With 0, forgets the elements; `elements` may be
 * NULL. */
GMT_EXPORT void gpumemtrace_values_write(uint64_t address, unsigned rank, const int64_t *shape,
                                         const int64_t *strides, unsigned element_bytes,
                                         const void *elements, int state);
/* Replaces the unknown elements by these guesses, and copies the other elements to the array of
 * guesses. */
GMT_EXPORT void gpumemtrace_values_guess(uint64_t address, unsigned rank, const int64_t *shape,
                                         const int64_t *strides, unsigned element_bytes,
                                         void *elements);

/* The first function returns the state of a range of bytes, as gpumemtrace_values_read does. The
 * second function forgets the contents of the range. */
GMT_EXPORT int gpumemtrace_values_state(uint64_t address, uint64_t size_bytes);
GMT_EXPORT void gpumemtrace_values_forget(uint64_t address, uint64_t size_bytes);

/* --- readings of values that were not computed --- */

/* Counts a reading at this line of the program. Returns the new count. */
GMT_EXPORT uint64_t gpumemtrace_values_note(const char *file, unsigned line);
/* Lists the lines in the order of their first reading, from 0. The last item is the readings
 * outside operators, with an empty file and line 0. Returns the number of readings; 0: no more
 * lines. Takes no lock and works before cuInit. */
GMT_EXPORT uint64_t gpumemtrace_values_noted(unsigned number, char *file, unsigned file_bytes,
                                             unsigned *line);

/* The first function counts a reading of a single float that its reader does not compare (a loss
 * that is shown, a norm); no shape follows from it. The second function returns the count. Neither
 * takes a lock. */
GMT_EXPORT void gpumemtrace_values_note_float(void);
GMT_EXPORT uint64_t gpumemtrace_values_floats(void);
