/* SPDX-License-Identifier: MIT */
/* Element types and their sizes, from dtypes.def. */
#pragma once

#include <stdint.h>

#include "gpumemtrace/err.h"

#define DTYPE_INT64_BYTES 8 /* of ids, indices and counters, whatever the model's type */
#define DTYPE_FP32_BYTES 4

enum dtype {
#define DTYPE(name, bytes, accumulate, names) DTYPE_##name,
#include "dtypes.def"
    DTYPE_COUNT
};

const char *dtype_name(enum dtype dtype);
uint64_t dtype_bytes(enum dtype dtype);
uint64_t dtype_accumulate_bytes(enum dtype dtype);

/* Parses any name in dtypes.def, ignoring case, with or without "torch." before it. -1:
 * ERR_USAGE. */
int dtype_parse(const char *text, enum dtype *dtype, struct err *err);
