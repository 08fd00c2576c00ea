/* SPDX-License-Identifier: MIT */
/*
 * SQLite's files, guarded: a program that closes every descriptor closes SQLite's too, and its own
 * files may then get their numbers. What SQLite asks of such a number is refused (EBADF), so the
 * program's files stay whole, and the trace is not filled from them.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LIFE_GUARDED_FILES_H
#define GPUMEMTRACE_INTERPOSE_LIFE_GUARDED_FILES_H

#include <stdbool.h>

/* Once, after sqlite3_config and before anything is opened. */
void guarded_files_install(void);

/* One that SQLite has open is not its own any more: the database is to be closed and opened again.
 */
bool guarded_files_lost(void);
/* In a fork's child: what its parent had open is not its own. */
void guarded_files_forget(void);

#endif
