/* SPDX-License-Identifier: MIT */
/* Asks a question in a child process, because a driver or loader may end the process that asks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Calls `ask` in a child process; `ask` fills answer. Returns false if the child ended before it
 * answered, or needed more than 30 seconds. */
bool child_ask(void (*ask)(void *answer, const void *about), const void *about, void *answer,
               size_t bytes);
/* Runs this executable with one argument and LD_PRELOAD. Returns its exit status (128+N: ended by
 * signal N); `said` gets its stderr. */
int child_run(const char *word, const char *preload, char *said, size_t bytes);
/* Cuts the loader's reason out of the stderr of such a child. */
const char *child_reason(char *said);
