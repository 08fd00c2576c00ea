/* SPDX-License-Identifier: MIT */
/*
 * The framework's operator in progress on the calling thread. The caller of values_api.c computes
 * and writes the results of the operator. A kernel outside an operator may write anything, so all
 * contents are forgotten when such a kernel is launched.
 *
 * State belongs to one thread, except the count of readings outside operators, which is atomic.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* reads_arguments: the operator copies its arguments to the host, so its readings return contents.
 * If it is false, the operator's readings return 0, because memory that the operator allocates may
 * have stale contents. */
void operation_begin(bool reads_arguments);
/* Ends the operator. Returns in how many of its readings the host found values that were not
 * computed. */
unsigned operation_end(void);

/* Sets the values that the operator's next readings of at most 8 bytes return, in this order. The
 * last value is repeated until the operator ends. There may be at most OPERATION_ANSWERS_MAX
 * values. */
#define OPERATION_ANSWERS_MAX 8
void operation_expect(const int64_t *answers, unsigned count);
/* Whether a reading returns contents. */
bool operation_reads_contents(void);
/* Copies the next value of operation_expect. Returns false, and leaves *bytes unchanged, if there
 * is none. */
bool operation_answer(void *bytes, uint64_t size_bytes);

/* Counts a reading by the host of values that were not computed. */
void operation_count_reading(void);
/* Returns the number of such readings outside operators. */
uint64_t operation_readings_outside(void);

void operation_kernel_ran(void);
