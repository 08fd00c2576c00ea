/* SPDX-License-Identifier: MIT */
/* Finds the program that `run` is to start, and checks whether a preloaded library can be loaded
 * into it. The functions here start no program. */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "gpumemtrace/err.h"

/* The exit statuses of a shell that cannot start a program. */
enum { RUN_NOT_EXECUTABLE = 126, RUN_NOT_FOUND = 127 };

/* Resolves name as execvp would. Returns 0 and the path, or RUN_NOT_… and *err. With
 * RUN_NOT_EXECUTABLE, path is the file that may not be executed. */
int run_program_find(const char *name, char path[PATH_MAX], struct err *err);

/* Returns 0 if the loader would load `library` into the program; -1 and *err if the program is cut
 * short, static, for another machine, or runs with raised privileges. With dry_run, also refuses a
 * program that is linked statically with NVIDIA's runtime, because that works only on a real
 * driver. A file that is not ELF (a script) is not checked. */
int run_program_check(const char *path, const char *library, bool dry_run, struct err *err);

/* Checks the file that the kernel starts for the program: a script's interpreter (and the
 * program that env looks for), or an ELF file's loader. Returns 0 if that file exists or if no such
 * file is named. If the file is missing, returns -1 and sets `missing` to its name. */
int run_program_find_interpreter(const char *path, char missing[PATH_MAX]);
