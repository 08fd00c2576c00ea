/* SPDX-License-Identifier: MIT */
/*
 * Answers questions about the tables of a database: can this version use them, are they on one
 * server or on the shards of a cluster, and which shard has a rank?
 */
#pragma once

#include "server.h"
#include "tables.h"

struct cluster {
    char name[128]; /* "": all tables are on one server */
};

/* Returns -1 on failure, and also if the schema is missing or of another version; *err says what to
 * do. */
int cluster_read(struct cluster *cluster, struct server *server, struct err *err);

/* Opens the server that has a rank. This is the first replica of the rank's shard, and its host
 * name is the name in the cluster's definition. */
int cluster_open(struct server **shard, struct server *server, const struct cluster *cluster,
                 const struct fleet_key *key, struct err *err);

/* Creates the missing tables on the one server. If name is the name of a cluster, creates them on
 * all hosts of the cluster. */
int cluster_make(struct server *server, const char *name, struct err *err);

/* Calls visit for each server that stores rows: the one server, or all hosts of the cluster. */
int cluster_each(struct server *server, const struct cluster *cluster,
                 int (*visit)(void *self, struct server *server, struct err *err), void *self,
                 struct err *err);
