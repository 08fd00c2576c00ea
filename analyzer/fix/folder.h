/* SPDX-License-Identifier: MIT */
/* Makes the folder for the traces of runs. It is a folder to keep, or a temporary one that is
 * deleted afterwards. */
#pragma once

#include <limits.h>

#include "gpumemtrace/err.h"

/*
 * Makes the folder. `keep` is the folder to keep: it is created if it does not exist, and refused
 * if it holds an earlier search. If `keep` is NULL, makes a new folder in TMPDIR, named after the
 * command.
 */
int folder_make(char folder[PATH_MAX], const char *keep, const char *command, struct err *err);
void folder_remove(const char *folder);
