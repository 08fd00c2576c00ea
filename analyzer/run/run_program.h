/* SPDX-License-Identifier: MIT */
/*
 * The program that `run` is to start: where it is, and whether a preloaded library can reach it.
 * It must not start anything.
 */
#ifndef GPUMEMTRACE_ANALYZER_RUN_RUN_PROGRAM_H
#define GPUMEMTRACE_ANALYZER_RUN_RUN_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

#include "gpumemtrace/err.h"

/* What a shell exits with when it cannot start a program. */
enum { RUN_NOT_EXECUTABLE = 126, RUN_NOT_FOUND = 127 };

/* Resolves name as execvp would. 0 and the path; else RUN_NOT_… and *err; with RUN_NOT_EXECUTABLE the path is that of what
 * may not be executed. */
int run_program_find(const char *name, char path[PATH_MAX], struct err *err);

/*
 * 0 if library would be loaded into the program; -1 and *err if it is cut short, static, for another machine,
 * or runs with raised privileges. With dry_run also if it carries NVIDIA's runtime inside, which
 * works on a real driver only. A file that is not ELF (a script) is not checked.
 */
int run_program_check(const char *path, const char *library, bool dry_run, struct err *err);

/*
 * What the kernel starts in the program's place: of a script the interpreter in its first line, of an ELF file the
 * loader that it names. 0 if that is there, or nothing is named; -1 and its name if not.
 */
int run_program_find_interpreter(const char *path, char missing[PATH_MAX]);

#endif
