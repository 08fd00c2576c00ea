/* SPDX-License-Identifier: MIT */
/*
 * SQLite's files, guarded: a program that closes every descriptor closes SQLite's too, and its own
 * files may then get their numbers. What SQLite writes to such a number is refused (EBADF), so the
 * program's files stay whole and the events wait in the ring.
 */
#ifndef GPUMEMTRACE_INTERPOSE_GUARDED_FILES_H
#define GPUMEMTRACE_INTERPOSE_GUARDED_FILES_H

/* Once, after sqlite3_config and before anything is opened. */
void guarded_files_install(void);

#endif
