/* SPDX-License-Identifier: MIT */
/*
 * Where the rows of one rank go, and how they become visible. It must not know what rows say.
 *
 *     place_open      the schema is ours; of a cluster, the server that has the rank; a number above those that it has
 *     staging tables  the details of this push, which nobody sees; numbered, as a server that died while it made or
 *                     dropped one may never take that name again
 *     place_move      REPLACE PARTITION: the details of this push are in event and stack, at once
 *     summary         rows with the number of this push, which no answer takes yet
 *     place_show      the row in `push`: from here on every answer takes this number, and no longer those before it
 *     place_forget    the details of earlier pushes of the rank go
 *
 * A push that ends anywhere before place_show changes no answer; the next one of the rank removes what it left.
 */
#ifndef GPUMEMTRACE_ANALYZER_PUSH_PLACE_H
#define GPUMEMTRACE_ANALYZER_PUSH_PLACE_H

#include "analyzer/fleet/rows.h"
#include "analyzer/fleet/server.h"
#include "origin.h"

enum { PLACE_TABLE_BYTES = 96 };

struct place {
    struct server *server; /* that has the rank */
    bool owns_server;
    const char *suffix; /* of its own tables: "", or "_local" in a cluster */
    struct fleet_key key;
    unsigned long long rank_id; /* equal for equal ranks of equal runs, whoever pushes */
    int staging;                /* the number of its staging tables */
    struct text sql, answer;
};

int place_open(struct place *place, struct server *server, const struct origin *origin,
               struct err *err);
void place_release(struct place *place);

/* The name of a table of its own. */
void place_table(const struct place *place, enum fleet_table table, char name[PLACE_TABLE_BYTES]);
void place_staging(const struct place *place, enum fleet_table table, char name[PLACE_TABLE_BYTES]);

int place_make_staging(struct place *place, struct err *err);
int place_move(struct place *place, struct err *err);
int place_drop_staging(struct place *place, struct err *err);
/* Rows of the summary: once, whatever happens to the connection. */
int place_send(struct place *place, const struct rows *rows, struct err *err);
/* Whether as many rows as counts says are there, of each table of the summary. */
int place_has(struct place *place, const uint64_t counts[FLEET_TABLES], bool *has, struct err *err);
int place_show(struct place *place, bool has_details, uint64_t row_count, struct err *err);
int place_forget(struct place *place, struct err *err);

#endif
