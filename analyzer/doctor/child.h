/* SPDX-License-Identifier: MIT */
/* A question to another process: a driver or a loader may end the one that asks. It must not know what is asked. */
#ifndef GPUMEMTRACE_ANALYZER_DOCTOR_CHILD_H
#define GPUMEMTRACE_ANALYZER_DOCTOR_CHILD_H

#include <stdbool.h>
#include <stddef.h>

/* Calls ask in a child, which fills answer; false: it ended, or took 30 seconds, before it had. */
bool child_ask(void (*ask)(void *answer, const void *about), const void *about, void *answer,
               size_t bytes);
/* Starts this command with these words and LD_PRELOAD; its exit status (128+N: ended by signal N), and what it said on stderr. */
int child_run(const char *word, const char *preload, char *said, size_t bytes);
/* The loader's own words in what such a child said first. */
const char *child_reason(char *said);

#endif
