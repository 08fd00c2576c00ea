/* SPDX-License-Identifier: MIT */
/*
 * Debug information from the servers in DEBUGINFOD_URLS, used only with --debuginfod. The client
 * library, which brings an HTTP client, is loaded only then.
 */
#pragma once

#include "gpumemtrace/err.h"

struct debuginfod;

/* NULL: the library is missing, or no server is set; *err says which. */
struct debuginfod *debuginfod_new(struct err *err);
void debuginfod_free(struct debuginfod *debuginfod);

/*
 * Call it if debuginfod is not wanted, because libdw by itself queries the servers if the variable
 * DEBUGINFOD_URLS is set.
 */
void debuginfod_forbid(void);

/*
 * Fetches the file with debug information of that build. If no server has one, fetches the program
 * or library itself. Returns the path of the file in the client's cache; the caller frees the path.
 * NULL: no server has either file.
 */
char *debuginfod_fetch(struct debuginfod *debuginfod, const char *build_id);
