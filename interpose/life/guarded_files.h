/* SPDX-License-Identifier: MIT */
/*
 * Guards SQLite's files: a program that closes every descriptor closes SQLite's, too, and its own
 * files may then get their numbers. Calls of SQLite on such a number are refused (EBADF), so it
 * neither writes to the program's files nor reads them. It must not know what SQLite stores.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LIFE_GUARDED_FILES_H
#define GPUMEMTRACE_INTERPOSE_LIFE_GUARDED_FILES_H

#include <stdbool.h>

/* Once, after sqlite3_config and before anything is opened. */
void guarded_files_install(void);

/* Has SQLite lost one of its files? Then the database must be closed and opened again. */
bool guarded_files_lost(void);
/* In a fork's child: closes what its parent had open, by the child's copies of the descriptors. */
void guarded_files_forget(void);

#endif
