/* SPDX-License-Identifier: MIT */
/*
 * Sends traces to the database of a fleet, one rank after the other. Each rank is sent whole or not
 * at all (place.h).
 */
#pragma once

#include "analyzer/fleet/server.h"
#include "origin.h"

struct push_ask {
    struct origin_ask origin;
    bool summary_only;
};

/* Returns -1 at the first rank that fails. The ranks before it stay in the database. */
int push_traces(struct server *server, const char *const *paths, int count,
                const struct push_ask *ask, struct err *err);

/* Writes the rows that push_traces would send for one trace into an existing folder: TABLE.tsv for
 * each table, and the schema as clickhouse.sql and postgresql.sql. */
int push_to_folder(const char *folder, const char *path, struct err *err);
