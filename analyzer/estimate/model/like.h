/* SPDX-License-Identifier: MIT */
/*
 * A model file that is like a family: "like": "llama" adds the family's keys that the file lacks,
 * and those names of the family's "config" and "dimensions" that the file has in neither.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_LIKE_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_LIKE_H

#include <jansson.h>

#include "gpumemtrace/err.h"

/*
 * Completes the file; without "like" it stays as it is. ERR_INPUT: there is no such family, or the
 * file sets a name that the family lacks and nothing uses.
 */
int like_complete(json_t *file, struct err *err);

#endif
