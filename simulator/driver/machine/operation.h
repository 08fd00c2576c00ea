/* SPDX-License-Identifier: MIT */
/*
 * The framework's operator in progress on the calling thread. Its results are computed and written
 * by the caller of values_api.c. A kernel outside an operator may write anything, so all contents
 * are then forgotten.
 *
 * State belongs to one thread, except the count of readings outside operators, which is atomic.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_OPERATION_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_OPERATION_H

#include <stdbool.h>
#include <stdint.h>

/* reads_arguments: the operator copies its arguments to the host, so its readings return contents.
 * Otherwise they return 0, because memory that it allocates inside may have stale contents. */
void operation_begin(bool reads_arguments);
/* Returns how many readings of the operator by the host found values that were not computed. */
unsigned operation_end(void);

/* Values for the operator's next readings of at most 8 bytes, in this order; the last value is
 * repeated until the operator ends. At most OPERATION_ANSWERS_MAX. */
#define OPERATION_ANSWERS_MAX 8
void operation_expect(const int64_t *answers, unsigned count);
/* Whether a reading returns contents. */
bool operation_reads_contents(void);
/* Copies the next value of operation_expect. false: there is none, and *bytes is unchanged. */
bool operation_answer(void *bytes, uint64_t size_bytes);

/* Counts a reading by the host of values that were not computed. */
void operation_count_reading(void);
/* The number of such readings outside operators. */
uint64_t operation_readings_outside(void);

void operation_kernel_ran(void);

#endif
