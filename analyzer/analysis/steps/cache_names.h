/* SPDX-License-Identifier: MIT */
/* Which memory is a cache that a library keeps for itself. It must not know why somebody asks. */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_CACHE_NAMES_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_CACHE_NAMES_H

#include "analyzer/symbol/symbols.h"

/* *name: "cuBLAS (a workspace for each handle and stream)"; NULL: it is none that is known. */
int cache_name_find(const char **name, struct symbols *symbols, uint32_t stack_id, struct err *err);

#endif
