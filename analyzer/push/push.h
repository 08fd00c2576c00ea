/* SPDX-License-Identifier: MIT */
/*
 * Traces to the database of a fleet: ranks one after the other, each whole or not at all (place.h). It must not know options,
 * nor what answers are asked of the database.
 */
#ifndef GPUMEMTRACE_ANALYZER_PUSH_PUSH_H
#define GPUMEMTRACE_ANALYZER_PUSH_PUSH_H

#include "analyzer/fleet/server.h"
#include "origin.h"

struct push_ask {
    struct origin_ask origin;
    bool summary_only;
};

/* Of ranks before an error the push is complete. */
int push_traces(struct server *server, const char *const *paths, int count,
                const struct push_ask *ask, struct err *err);

/* The same rows of one trace into a folder that is there: TABLE.tsv, and the tables as clickhouse.sql and postgresql.sql. */
int push_to_folder(const char *folder, const char *path, struct err *err);

#endif
