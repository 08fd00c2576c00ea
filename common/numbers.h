/* SPDX-License-Identifier: MIT */
/*
 * Reads numbers from text: sizes, counts and shares as people type them, and plain digits. The
 * *_parse functions read the whole text, or fail with ERR_USAGE and a message that quotes it.
 * Thread-safe.
 */
#pragma once

#include <stdint.h>

#include "gpumemtrace/err.h"

/*
 * Reads a size such as 4GiB, 4G (the same), 4GB (decimal), 1.5GiB or 4294967296. The units are K,
 * M, G and T in any case. Spaces before the unit are allowed. A fraction is rounded down to whole
 * bytes. The largest size is 2^63-1, because a trace cannot hold more.
 */
int size_parse(const char *text, uint64_t *bytes, struct err *err);

/* Reads a whole decimal number from least to most. */
int number_parse(const char *text, long least, long most, long *number, struct err *err);

/* Reads a share such as 2% or 0.02; both give 0.02. A share must not be negative. */
int ratio_parse(const char *text, double *ratio, struct err *err);

/* Reads decimal digits and returns the first other byte. *number is UINT64_MAX if they do not fit
 * into 64 bits. The library uses this function instead of strtol, sscanf and the like, because the
 * headers of glibc 2.38 and later turn these into symbols that older glibcs lack. */
const char *digits_read(const char *text, uint64_t *number);
