/* SPDX-License-Identifier: MIT */
/*
 * Debug information from the servers that DEBUGINFOD_URLS names, for who asked for it. The client
 * library is loaded only then: it brings an HTTP client with it. It must not know what the files
 * are for.
 */
#ifndef GPUMEMTRACE_ANALYZER_SYMBOL_DEBUGINFOD_H
#define GPUMEMTRACE_ANALYZER_SYMBOL_DEBUGINFOD_H

#include "gpumemtrace/err.h"

struct debuginfod;

/* NULL: there is no such library, or no server is named; *err says which. */
struct debuginfod *debuginfod_new(struct err *err);
void debuginfod_free(struct debuginfod *debuginfod);

/* Keeps libdw, which asks the servers whenever the variable is set, from asking them. */
void debuginfod_forbid(void);

/*
 * The path of the file with debug information of that build, else that of the program or library,
 * in the client's cache; the caller frees it. NULL: no server has it.
 */
char *debuginfod_fetch(struct debuginfod *debuginfod, const char *build_id);

#endif
