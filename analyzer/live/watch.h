/* SPDX-License-Identifier: MIT */
/* Looks at a trace again and again, on a screen or line by line, with a bounded share of one core. */
#ifndef GPUMEMTRACE_ANALYZER_LIVE_WATCH_H
#define GPUMEMTRACE_ANALYZER_LIVE_WATCH_H

#include "live.h"

struct watch_options {
    struct live_choice choice;
    double cpu_ratio; /* most of a core while the program runs */
};

/* Until somebody quits; without a screen until the program has ended. */
int watch_trace(const char *path, const struct watch_options *options, struct err *err);

#endif
