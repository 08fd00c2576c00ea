/* SPDX-License-Identifier: MIT */
/*
 * Debug information from the servers in DEBUGINFOD_URLS, used only with --debuginfod. The client
 * library, which brings an HTTP client, is loaded only then.
 */
#ifndef GPUMEMTRACE_ANALYZER_SYMBOL_DEBUGINFOD_H
#define GPUMEMTRACE_ANALYZER_SYMBOL_DEBUGINFOD_H

#include "gpumemtrace/err.h"

struct debuginfod;

/* NULL: the library is missing, or no server is set; *err says which. */
struct debuginfod *debuginfod_new(struct err *err);
void debuginfod_free(struct debuginfod *debuginfod);

/*
 * Call it if debuginfod is not wanted: libdw queries the servers by itself if the variable is set.
 */
void debuginfod_forbid(void);

/*
 * Fetches the file with debug information of that build, else the program or library itself.
 * Returns its path in the client's cache; the caller frees it. NULL: no server has it.
 */
char *debuginfod_fetch(struct debuginfod *debuginfod, const char *build_id);

#endif
