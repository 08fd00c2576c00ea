/* SPDX-License-Identifier: MIT */
/*
 * Elements of NCCL's types, and what its reductions make of them. It must not know ranks or calls.
 */
#ifndef GPUMEMTRACE_SIMULATOR_STANDINS_NCCL_ELEMENT_H
#define GPUMEMTRACE_SIMULATOR_STANDINS_NCCL_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>

enum combining { REDUCE_SUM, REDUCE_PRODUCT, REDUCE_MAX, REDUCE_MIN, REDUCE_AVERAGE };
/* From here on, sums whose terms are multiplied before (ncclRedOpCreatePreMulSum). */
#define REDUCE_MADE 5

size_t element_bytes(int type);
/* NCCL's name for it. */
const char *element_name(int type);
/* Whether anything can be computed of it. */
bool element_is_number(int type);

double element_value(const void *element, int type);
/* to = to combined with from. An average is a sum here. */
void element_combine(void *to, const void *from, size_t count, int type, int reduction);
void element_multiply(void *elements, size_t count, int type, double factor);
void element_divide(void *elements, size_t count, int type, int divisor);

#endif
