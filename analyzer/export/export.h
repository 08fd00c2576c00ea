/* SPDX-License-Identifier: MIT */
/*
 * Writes a trace as the file of another tool. Has the loaded trace and the functions that every
 * format uses.
 *
 *     export_open → export_write (format → function) → export_close
 */
#pragma once

#include <stdio.h>

#include "analyzer/analysis/study.h"
#include "analyzer/replay/history/cursor.h"

struct export;

struct export_format {
    const char *name; /* as in --to= */
    /* Writes the whole file to export->out. */
    int (*write)(const struct export *export, struct err *err);
    const char *at; /* moment that is shown unless --at is given; NULL: all events are shown */
    bool is_binary;
    const char *summary;
};

struct export
{
    const struct export_format *format;
    struct view view; /* view.at: the moment to show */
    struct study study;
    FILE *out; /* set during export_write */
};
/* Loads and replays the trace. The caller keeps view->sources until export_close. After -1,
 * export_close is not needed. */
int export_open(struct export *export, const struct export_format *format, const struct view *view,
                const char *path, struct err *err);
/* Writes the file; the caller checks `out` for write errors. */
int export_write(struct export *export, FILE *out, struct err *err);
void export_close(struct export *export);

/* Returns whether --device selects the device. */
static inline bool export_takes(const struct export *export, int device)
{
    return export->view.device < 0 || export->view.device == device;
}

/* Replays the trace again, for a format that writes its file during the replay. Accounts and paths
 * keep the numbers that they have in the study. The replay ends after `most` events; 0: after the
 * last event. */
struct observer;
int export_replay(const struct export *export, const struct observer *observer, uint64_t most,
                  struct err *err);

/* Returns the latest time so far. Times of different threads may be out of order by the duration of
 * a call, but viewers need ascending times. */
static inline uint64_t export_now(uint64_t *now_ns, const struct cursor *at)
{
    if (at->event && at->event->time_ns > *now_ns)
        *now_ns = at->event->time_ns;
    return *now_ns;
}

/* Writes the name of the account into text and returns text, for example "device 0 (pytorch
 * pool)". */
#define EXPORT_LAYER_BYTES 320
const char *export_layer_text(const struct export *export, uint32_t account,
                              char text[EXPORT_LAYER_BYTES]);

#define EXPORT(name, function, at, is_binary, summary)                                             \
    int function(const struct export *export, struct err *err);
#include "formats.def"
