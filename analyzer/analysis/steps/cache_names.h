/* SPDX-License-Identifier: MIT */
/* Finds out, by the names in cache_names.def, whether a library keeps memory as a cache. */
#pragma once

#include "analyzer/symbol/symbols.h"

/* Sets *name to the name of the cache that memory of this stack belongs to, such as "cuBLAS (a
 * workspace for each handle and stream)", or to NULL if no cache is known. */
int cache_name_find(const char **name, struct symbols *symbols, uint32_t stack_id, struct err *err);
