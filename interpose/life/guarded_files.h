/* SPDX-License-Identifier: MIT */
/*
 * Guards SQLite's descriptors. A program that closes all descriptors also closes SQLite's
 * descriptors, and files that the program opens later may get the same numbers. SQLite's calls on
 * such a number fail with EBADF, so SQLite neither reads nor writes the program's files.
 */
#pragma once

#include <stdbool.h>

/* Call it once, after sqlite3_config and before any file is opened. */
void guarded_files_install(void);

/* Has the program closed one of SQLite's files? If so, the database must be closed and opened
 * again. */
bool guarded_files_lost(void);
/* In a fork's child: closes the child's copies of its parent's descriptors. */
void guarded_files_forget(void);
