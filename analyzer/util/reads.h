/* SPDX-License-Identifier: MIT */
/*
 * Counts how often a command opens trace files and replays their events, because the time for each
 * grows with the length of the trace. If GPUMEMTRACE_COUNT_READS is set, the command prints both
 * numbers at its end; tests compare them. Callable from any thread.
 */
#pragma once

void reads_count_open(void);
void reads_count_replay(void);
void reads_print(void);
