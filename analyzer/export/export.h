/* SPDX-License-Identifier: MIT */
/*
 * A trace as another tool's file: what every format gets. It must not know what one writes, where the file goes,
 * nor the options of the command.
 *
 *     export_open → export_write (format → function) → export_close
 */
#ifndef GPUMEMTRACE_ANALYZER_EXPORT_EXPORT_H
#define GPUMEMTRACE_ANALYZER_EXPORT_EXPORT_H

#include <stdio.h>

#include "analyzer/analysis/study.h"
#include "analyzer/replay/history/cursor.h"

struct export;

struct export_format {
    const char *name; /* as in --to= */
    /* Writes all of it to export->out. */
    int (*write)(const struct export *export, struct err *err);
    const char *at; /* its moment unless another is asked for; NULL: it has none */
    bool is_binary;
    const char *summary;
};

struct export
{
    const struct export_format *format;
    struct view view; /* with the moment that is meant */
    struct study study;
    FILE *out; /* while it is written */
};

/* Loads and replays the trace. view->sources outlive the export. -1: nothing is to be closed. */
int export_open(struct export *export, const struct export_format *format, const struct view *view,
                const char *path, struct err *err);
/* Whether all of it arrived need not be looked at. */
int export_write(struct export *export, FILE *out, struct err *err);
void export_close(struct export *export);

/* Whether a device is one of those that were asked for. */
static inline bool export_takes(const struct export *export, int device)
{
    return export->view.device < 0 || export->view.device == device;
}

/* Replays once more, for a format that writes while events go by. The accounts and paths of that history have the
 * numbers of the study's. most: events, 0: all. */
struct observer;
int export_replay(const struct export *export, const struct observer *observer, uint64_t most,
                  struct err *err);

/* The latest time so far: times of different threads may differ by a call's duration, and files of viewers go forward. */
static inline uint64_t export_now(uint64_t *now_ns, const struct cursor *at)
{
    if (at->event && at->event->time_ns > *now_ns)
        *now_ns = at->event->time_ns;
    return *now_ns;
}

/* "device 0 (pytorch pool)". */
#define EXPORT_LAYER_BYTES 320
const char *export_layer_text(const struct export *export, uint32_t account,
                              char text[EXPORT_LAYER_BYTES]);

#define EXPORT(name, function, at, is_binary, summary)                                             \
    int function(const struct export *export, struct err *err);
#include "formats.def"

#endif
