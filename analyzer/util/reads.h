/* SPDX-License-Identifier: MIT */
/*
 * Counts how often a command opens trace files and replays their events, because each costs as much
 * as the trace is long. With GPUMEMTRACE_COUNT_READS set, the command prints both at its end; tests
 * pin the numbers. Callable from any thread.
 */
#ifndef GPUMEMTRACE_ANALYZER_UTIL_READS_H
#define GPUMEMTRACE_ANALYZER_UTIL_READS_H

void reads_count_open(void);
void reads_count_replay(void);
void reads_print(void);

#endif
