/* SPDX-License-Identifier: MIT */
/*
 * Debug information from the servers that DEBUGINFOD_URLS names, where --debuginfod asks for it.
 * The client library, which brings an HTTP client, is loaded only then. It must not know what the
 * files are for.
 */
#ifndef GPUMEMTRACE_ANALYZER_SYMBOL_DEBUGINFOD_H
#define GPUMEMTRACE_ANALYZER_SYMBOL_DEBUGINFOD_H

#include "gpumemtrace/err.h"

struct debuginfod;

/* NULL: the library is missing, or no server is named; *err says which. */
struct debuginfod *debuginfod_new(struct err *err);
void debuginfod_free(struct debuginfod *debuginfod);

/* Without this libdw asks the servers by itself whenever the variable is set. */
void debuginfod_forbid(void);

/*
 * The path of the file with debug information of that build, else that of the program or library,
 * in the client's cache; the caller frees it. NULL: no server has it.
 */
char *debuginfod_fetch(struct debuginfod *debuginfod, const char *build_id);

#endif
