/* SPDX-License-Identifier: MIT */
/*
 * The tables that get the rows of one rank, and the order in which rows become visible.
 *
 *     place_open      checks the schema, finds the rank's server in a cluster, and chooses a
 *                     push number above all earlier ones of the rank
 *     staging tables  hold the details of this push, where no query reads them. Their names have
 *                     the number of the push, because two pushes of a rank may run at the same
 *                     time, and a second number, because a server that died while it created or
 *                     dropped such a table may refuse its name for ever
 *     place_move      REPLACE PARTITION: moves the details into event and stack, at once
 *     place_send      adds the summary's rows with the number of this push; no query reads them yet
 *     place_show      adds the row in `push`: from now on every query reads this push, and no
 *                     longer the earlier ones
 *     place_forget    drops the details of the rank's earlier pushes
 *
 * A push that ends before place_show changes no answer. The rank's next push drops the details that
 * such a push left.
 */
#pragma once

#include "analyzer/fleet/rows.h"
#include "analyzer/fleet/server.h"
#include "origin.h"

enum { PLACE_TABLE_BYTES = 96 };

struct place {
    struct server *server; /* the server that has the rank */
    bool owns_server;
    const char *suffix; /* of the names of its own tables: "", or "_local" in a cluster */
    struct fleet_key key;
    unsigned long long rank_id; /* hash of job, run and rank: equal on every host */
    int staging;                /* number in the names of the staging tables */
    struct text sql, answer;
};

int place_open(struct place *place, struct server *server, const struct origin *origin,
               struct err *err);
void place_release(struct place *place);

void place_staging(const struct place *place, enum fleet_table table, char name[PLACE_TABLE_BYTES]);

int place_make_staging(struct place *place, struct err *err);
/* The staging table must have rows. */
int place_move(struct place *place, enum fleet_table table, struct err *err);
int place_drop_staging(struct place *place, struct err *err);
/* Adds rows of the summary exactly once, even if the connection breaks and the rows must be sent
 * again. */
int place_send(struct place *place, const struct rows *rows, struct err *err);
/* Sets *has if each table of the summary has as many rows of this push as counts says. */
int place_has(struct place *place, const uint64_t counts[FLEET_TABLES], bool *has, struct err *err);
int place_show(struct place *place, bool has_details, uint64_t row_count, struct err *err);
int place_forget(struct place *place, struct err *err);
