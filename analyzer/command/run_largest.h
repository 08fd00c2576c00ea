/* SPDX-License-Identifier: MIT */
/* `run --vary=NAME:LOW..HIGH --fit=SPEC`: uses dry runs to find the largest value that fits. The
 * recorder's settings must already be in the environment. */
#pragma once

#include "analyzer/command/option/option.h"

struct run_largest {
    const char *vary, *fit, *keep; /* copied from the options; NULL: not given */
    long max_runs;                 /* 0: the default */
    bool json;
};

/* Checks the options. Returns -1 if an option lacks another option that it needs. */
int run_largest_check(const struct run_largest *own, struct err *err);
/* Makes the dry runs of the program at `path` and prints the answer. Returns an exit status, or
 * -1. */
int run_largest(const struct run_largest *own, const struct command_options *options,
                const char *path, char **argv, struct err *err);
