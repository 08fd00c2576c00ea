/* SPDX-License-Identifier: MIT */
/* Finds the memory that a library caches for itself, by the names of cache_names.def. */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_CACHE_NAMES_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_CACHE_NAMES_H

#include "analyzer/symbol/symbols.h"

/* *name: "cuBLAS (a workspace for each handle and stream)"; NULL: no known cache. */
int cache_name_find(const char **name, struct symbols *symbols, uint32_t stack_id, struct err *err);

#endif
