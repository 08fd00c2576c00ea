/* SPDX-License-Identifier: MIT */
/*
 * A model file that is like a family: "like": "llama" gives it the keys that it lacks, and of the names in "config" and
 * "dimensions" those that it has in neither. It must not know what they mean.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_LIKE_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_LIKE_H

#include <jansson.h>

#include "gpumemtrace/err.h"

/*
 * Completes the file; one that is like none stays as it is. ERR_INPUT: there is no such family, or the file gives a
 * name that the family lacks and nothing uses.
 */
int like_complete(json_t *file, struct err *err);

#endif
