/* SPDX-License-Identifier: MIT */
/*
 * Elements of NCCL's types and their reductions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum combining { REDUCE_SUM, REDUCE_PRODUCT, REDUCE_MAX, REDUCE_MIN, REDUCE_AVERAGE };
/* From this number on: sums of scaled terms (ncclRedOpCreatePreMulSum). */
#define REDUCE_MADE 5

size_t element_bytes(int type);
/* NCCL's name of the type. */
const char *element_name(int type);
/* Whether the type can be computed with. */
bool element_is_number(int type);

double element_value(const void *element, int type);
/* Combines `from` into `to`. An average is summed up here; reduction_end divides. */
void element_combine(void *to, const void *from, size_t count, int type, int reduction);
void element_multiply(void *elements, size_t count, int type, double factor);
void element_divide(void *elements, size_t count, int type, int divisor);
