/* SPDX-License-Identifier: MIT */
/* The folder for the traces of runs: a temporary one that is deleted afterwards, or one to keep. */
#ifndef GPUMEMTRACE_ANALYZER_FIX_FOLDER_H
#define GPUMEMTRACE_ANALYZER_FIX_FOLDER_H

#include <limits.h>

#include "gpumemtrace/err.h"

/*
 * keep: the folder to keep. It is made if it does not exist, and refused if it holds an earlier
 * search. NULL: a new folder in TMPDIR, named after the command.
 */
int folder_make(char folder[PATH_MAX], const char *keep, const char *command, struct err *err);
void folder_remove(const char *folder);

#endif
