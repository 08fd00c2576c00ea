/* SPDX-License-Identifier: MIT */
/* One trace, read as a command needs it: a study with names for its frames, and the remedies. */
#pragma once

#include "analyzer/analysis/study.h"
#include "analyzer/remedy/remedies.h"

struct reading_ask {
    struct study_ask study; /* its file and watchers are not set */
    struct symbol_sources sources;
    bool advises; /* find remedies */
};

struct reading {
    struct study study; /* the study holds no lock on its file; see study_open.h */
    struct remedies remedies;
};

/* Reads the trace. `file` is the trace's file if it is already open, and the reading takes it over;
 * NULL: it is not open. `watcher` is an observer of the first pass; NULL: there is none. The
 * reading must stay at its address until reading_release. On -1 nothing has to be released. */
int reading_open(struct reading *reading, const char *path, const struct opened_trace *file,
                 const struct reading_ask *ask, const struct observer *watcher, struct err *err);
void reading_release(struct reading *reading);
