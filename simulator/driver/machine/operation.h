/* SPDX-License-Identifier: MIT */
/*
 * A framework's operator in progress on the calling thread, whose results someone else computes and
 * writes (values_api.c). A kernel that runs outside one may have written anything, so all contents are
 * forgotten then. It must not know what an operator is.
 *
 * What is here belongs to one thread, except the count of readings outside operators, which is atomic.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_OPERATION_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_OPERATION_H

#include <stdbool.h>
#include <stdint.h>

/* Its readings find contents only if it hands its arguments to the host: memory that it takes inside
 * may hold what was there before. */
void operation_begin(bool reads_arguments);
/* Returns how often the host has read what nobody computed. */
unsigned operation_end(void);

/* What the next readings of unknown values of at most 8 bytes find, in this order; the last one
 * stays until the operator ends. At most OPERATION_ANSWERS_MAX. */
#define OPERATION_ANSWERS_MAX 8
void operation_expect(const int64_t *answers, unsigned count);
/* Whether a reading is one of contents. */
bool operation_reads_contents(void);
/* false: there is no answer, and the bytes are as they were. */
bool operation_answer(void *bytes, uint64_t size_bytes);

/* The host has read values that nobody computed. */
void operation_count_reading(void);
/* How many such readings there were outside operators. */
uint64_t operation_readings_outside(void);

void operation_kernel_ran(void);

#endif
