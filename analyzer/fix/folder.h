/* SPDX-License-Identifier: MIT */
/* Where the traces of runs go: a folder that is deleted afterwards, or one to keep. It must not know what runs. */
#ifndef GPUMEMTRACE_ANALYZER_FIX_FOLDER_H
#define GPUMEMTRACE_ANALYZER_FIX_FOLDER_H

#include <limits.h>

#include "gpumemtrace/err.h"

/* keep: the folder to keep, made if it is not there, and refused if it holds an earlier search; NULL: a new one in
 * TMPDIR, named after the command. */
int folder_make(char folder[PATH_MAX], const char *keep, const char *command, struct err *err);
void folder_remove(const char *folder);

#endif
