/* SPDX-License-Identifier: MIT */
/* A progress line on the terminal; see progress.h. */
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

#include "clock.h"

#define FIRST_AFTER_NS UINT64_C(1000000000)
#define NEXT_AFTER_NS UINT64_C(200000000)

struct progress progress_begin(const char *what)
{
    return (struct progress){
        .what = what, .begin_ns = monotonic_ns(), .is_watched = isatty(STDERR_FILENO) == 1};
}

void progress_show(struct progress *progress, uint64_t done, uint64_t total)
{
    if (!progress->is_watched)
        return;
    uint64_t now = monotonic_ns();
    if (now - progress->begin_ns < FIRST_AFTER_NS || now - progress->shown_ns < NEXT_AFTER_NS)
        return;
    progress->shown_ns = now;
    progress->is_shown = true;
    double share = total ? (double)done / (double)total : 0;
    fprintf(stderr, "\r%s: %3.0f %%", progress->what, 100 * (share < 1 ? share : 1));
    fflush(stderr);
}

void progress_end(struct progress *progress)
{
    if (progress->is_shown)
        fputs("\r\033[K", stderr);
    progress->is_shown = false;
}
