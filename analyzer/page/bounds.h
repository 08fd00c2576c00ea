/* SPDX-License-Identifier: MIT */
/*
 * Two dry runs of one program, with events reached at once and late (--events): what the card had to
 * hold at least, and what if it lags behind the host. It must not know the rest of a job.
 */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_BOUNDS_H
#define GPUMEMTRACE_ANALYZER_PAGE_BOUNDS_H

#include "analyzer/analysis/study.h"
#include "analyzer/render/doc.h"

struct bound {
    char *command;
    struct trace_integer rank;
    int device;
    bool is_late;
    uint64_t peak_bytes; /* of the driver's memory: a framework's cache is in it */
};

/* All zero is empty. */
struct bounds {
    struct bound *items;
    size_t count, capacity;
};

/* Takes a trace in; nothing if it is no dry run. */
int bounds_note(struct bounds *bounds, const struct study *study, struct err *err);
/* "bounds" of the job: a row for each device that a run with done and one with late had. */
void bounds_add(struct doc *doc, const struct bounds *bounds);
void bounds_release(struct bounds *bounds);

#endif
