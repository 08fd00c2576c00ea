/* SPDX-License-Identifier: MIT */
/* Reads one trace for a command; see reading.h. */
#include "reading.h"
#include "analyzer/analysis/study_open.h"

/* Finds the remedies, which need the events once more, and closes the events. */
static int finish(struct reading *reading, const struct reading_ask *ask, struct lives_watch *lives,
                  struct err *err)
{
    struct study *study = &reading->study;
    if (symbols_set_sources(study->symbols, &ask->sources, err) ||
        (ask->advises && remedies_find(&reading->remedies, study, lives, err)))
        return -1;
    study->remedies = ask->advises ? &reading->remedies : NULL;
    trace_pause_events(&study->trace);
    return 0;
}

int reading_open(struct reading *reading, const char *path, const struct opened_trace *file,
                 const struct reading_ask *ask, const struct observer *watcher, struct err *err)
{
    struct study_ask asked = ask->study;
    struct lives_watch lives = {0};
    struct observer watchers[2];
    size_t count = 0;
    if (ask->advises)
        watchers[count++] = lives_watch_observer(&lives);
    if (watcher)
        watchers[count++] = *watcher;
    if (file)
        asked.file = *file;
    asked.watchers = (struct observers){watchers, count};
    *reading = (struct reading){0};
    int status = study_open(&reading->study, path, &asked, err);
    if (!status) {
        status = finish(reading, ask, &lives, err);
        if (status)
            reading_release(reading);
    }
    lives_watch_release(&lives);
    return status;
}

void reading_release(struct reading *reading)
{
    study_release(&reading->study);
    *reading = (struct reading){0};
}
