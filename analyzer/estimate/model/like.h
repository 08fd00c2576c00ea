/* SPDX-License-Identifier: MIT */
/*
 * Completes a model file that is like a family. The key "like": "llama" adds those keys of the
 * family llama that the file lacks. It also adds the names in the family's "config" and
 * "dimensions", except names that the file has in one of these two.
 */
#pragma once

#include <jansson.h>

#include "gpumemtrace/err.h"

/*
 * Completes the file. A file without "like" stays as it is. ERR_INPUT: there is no such family, or
 * the file sets a name that the family lacks and that nothing uses.
 */
int like_complete(json_t *file, struct err *err);
