/* SPDX-License-Identifier: MIT */
/*
 * The tables of a database: whether they are ours, on one server or on the shards of a cluster, and which shard has a rank.
 * It must not know what is pushed.
 */
#ifndef GPUMEMTRACE_ANALYZER_FLEET_CLUSTER_H
#define GPUMEMTRACE_ANALYZER_FLEET_CLUSTER_H

#include "server.h"
#include "tables.h"

struct cluster {
    char name[128]; /* "": the tables are of one server */
};

/* -1 too where the schema is another version's, or there is none: *err says what to do. */
int cluster_read(struct cluster *cluster, struct server *server, struct err *err);

/* The server that has a rank: its first replica, by the host that the cluster's definition names. */
int cluster_open(struct server **shard, struct server *server, const struct cluster *cluster,
                 const struct fleet_key *key, struct err *err);

/* Makes the tables that are missing: of one server, or with a name of a cluster on all its hosts. */
int cluster_make(struct server *server, const char *name, struct err *err);

/* Calls with each server that has tables of its own: the one, or all hosts of the cluster. */
int cluster_each(struct server *server, const struct cluster *cluster,
                 int (*visit)(void *self, struct server *server, struct err *err), void *self,
                 struct err *err);

#endif
