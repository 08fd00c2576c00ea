/* SPDX-License-Identifier: MIT */
/*
 * `run --vary=NAME:LOW..HIGH --fit=SPEC`: the largest value that fits, by dry runs. It must not know the recorder's
 * settings, which are in the environment when it is called.
 */
#ifndef GPUMEMTRACE_ANALYZER_COMMAND_RUN_LARGEST_H
#define GPUMEMTRACE_ANALYZER_COMMAND_RUN_LARGEST_H

#include "analyzer/command/option/option.h"

struct run_largest {
    const char *vary, *fit, *keep; /* as they were given; NULL: not */
    long max_runs;                 /* 0: the standard */
    bool json;
};

/* -1: one of its options lacks another. */
int run_largest_check(const struct run_largest *own, struct err *err);
/* Makes the runs of the program at path, and prints the answer. Returns an exit status, or -1. */
int run_largest(const struct run_largest *own, const struct command_options *options,
                const char *path, char **argv, struct err *err);

#endif
