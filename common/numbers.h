/* SPDX-License-Identifier: MIT */
/*
 * Reads numbers from text: sizes, counts and shares as people type them, and plain digits. It must
 * not know which option the text came from. The *_parse functions take the whole text, or fail with
 * ERR_USAGE and a message that quotes it.
 */
#ifndef GPUMEMTRACE_COMMON_NUMBERS_H
#define GPUMEMTRACE_COMMON_NUMBERS_H

#include <stdint.h>

#include "gpumemtrace/err.h"

/*
 * 4GiB, 4G (the same), 4GB (decimal), 1.5GiB, 4294967296. Units K M G T, case ignored, spaces
 * before the unit allowed. A fraction is rounded down to whole bytes. The most is 2^63-1: what a
 * trace can hold.
 */
int size_parse(const char *text, uint64_t *bytes, struct err *err);

/* A whole decimal number from least to most. */
int number_parse(const char *text, long least, long most, long *number, struct err *err);

/* 2% or 0.02, not negative: 0.02. */
int ratio_parse(const char *text, double *ratio, struct err *err);

/* Reads decimal digits and returns the first byte that is none. *number is UINT64_MAX if they do
 * not fit into 64 bits. The library uses this instead of strtol and its kin, which headers since
 * glibc 2.38 turn into symbols that older glibcs lack. */
const char *digits_read(const char *text, uint64_t *number);

#endif
