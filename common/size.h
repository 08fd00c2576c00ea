/* SPDX-License-Identifier: MIT */
/*
 * Numbers as people type them: sizes, counts, shares. Each function takes the whole text or fails
 * with ERR_USAGE and the text quoted. It must not know which option the text came from.
 */
#ifndef GPUMEMTRACE_COMMON_SIZE_H
#define GPUMEMTRACE_COMMON_SIZE_H

#include <stdint.h>

#include "gpumemtrace/err.h"

/*
 * 4GiB, 4G (the same), 4GB (decimal), 1.5GiB, 4294967296. Units K M G T, case ignored, spaces
 * before the unit allowed. A fraction is rounded down to whole bytes.
 */
int size_parse(const char *text, uint64_t *bytes, struct err *err);

/* A decimal integer between least and most. */
int number_parse(const char *text, long least, long most, long *number, struct err *err);

/* 2% or 0.02, not negative: 0.02. */
int ratio_parse(const char *text, double *ratio, struct err *err);

#endif
