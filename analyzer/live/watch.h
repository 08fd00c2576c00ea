/* SPDX-License-Identifier: MIT */
/*
 * Shows a growing trace again and again, on a screen or as lines, with a bounded share of one core.
 */
#pragma once

#include "live.h"

struct watch_options {
    struct live_choice choice;
    double cpu_ratio; /* most CPU time, as a share of one core, while the program runs */
};

/* Returns when the user quits. Without a screen, returns when the program has ended. */
int watch_trace(const char *path, const struct watch_options *options, struct err *err);
