/* SPDX-License-Identifier: MIT */
/* See cluster.h. */
#include "cluster.h"

#include <stdlib.h>
#include <string.h>

enum { SQL_MOST_BYTES = 1 << 16, ANSWER_MOST_BYTES = 1 << 20 };

int cluster_read(struct cluster *cluster, struct server *server, struct err *err)
{
    struct text answer;
    int version = 0;
    *cluster = (struct cluster){0};
    text_init(&answer, ANSWER_MOST_BYTES);
    int status =
        server_ask(server, "SELECT version, cluster FROM " FLEET_SCHEMA_TABLE, &answer, err);
    if (status && server_exception(server) == SERVER_UNKNOWN_TABLE)
        err_set(err, ERR_INPUT,
                "the database '%s' of %s has no tables for traces; make them with: gpumemtrace "
                "push --create --to=URL",
                server_database(server), server_name(server));
    if (!status && sscanf(answer.data, "%d\t%127[^\n]", &version, cluster->name) < 1) {
        err_set(err, ERR_INPUT,
                "%s gives no version of the tables in '%s'; is it a ClickHouse server?",
                server_name(server), server_database(server));
        status = -1;
    } else if (!status && version != FLEET_SCHEMA) {
        err_set(err, ERR_INPUT,
                "the tables in '%s' of %s are of schema %d, and this gpumemtrace knows %d: take "
                "another database",
                server_database(server), server_name(server), version, FLEET_SCHEMA);
        status = -1;
    }
    text_release(&answer);
    return status;
}

static int ask(struct server *server, struct text *sql, struct text *answer, struct err *err)
{
    if (!text_failed(sql))
        return server_ask(server, sql->data, answer, err);
    return err_set(err, ERR_SYSTEM, "out of memory for a statement");
}

/* --- the shard of a rank --- */

/* ClickHouse's Distributed engine chooses the shard by the sharding key modulo the sum of all
 * weights. */
static void write_remainder(struct text *sql, const struct cluster *cluster,
                            const struct fleet_key *key)
{
    text_add(sql, "SELECT host_name, shard_weight, cityHash64(");
    fleet_add_literal(sql, key->job);
    text_add(sql, ", ");
    fleet_add_literal(sql, key->run);
    text_addf(sql,
              ", toInt32(%d)) %% (SELECT greatest(sum(shard_weight), 1) FROM (SELECT DISTINCT "
              "shard_num, shard_weight FROM "
              "system.clusters WHERE cluster = ",
              key->rank);
    fleet_add_literal(sql, cluster->name);
    text_add(sql, ")) FROM system.clusters WHERE replica_num = 1 AND cluster = ");
    fleet_add_literal(sql, cluster->name);
    text_add(sql, " ORDER BY shard_num");
}

/* Returns the host whose range of weights contains the remainder. Changes the answer, because it
 * cuts the text into lines. */
static const char *host_of(char *answer)
{
    unsigned long long below = 0;
    char *rest = NULL;
    for (char *line = strtok_r(answer, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *weight = strchr(line, '\t'), *remainder = weight ? strchr(weight + 1, '\t') : NULL;

        if (!remainder)
            return NULL;
        below += strtoull(weight + 1, NULL, 10);
        if (strtoull(remainder + 1, NULL, 10) < below) {
            *weight = '\0';
            return line;
        }
    }
    return NULL;
}

int cluster_open(struct server **shard, struct server *server, const struct cluster *cluster,
                 const struct fleet_key *key, struct err *err)
{
    struct text sql, answer;
    *shard = NULL;
    text_init(&sql, SQL_MOST_BYTES);
    text_init(&answer, ANSWER_MOST_BYTES);
    write_remainder(&sql, cluster, key);
    int status = ask(server, &sql, &answer, err);
    const char *host = status ? NULL : host_of(answer.data);
    if (!status && !host) {
        err_set(err, ERR_INPUT, "the tables belong to the cluster '%s', which %s does not know",
                cluster->name, server_name(server));
        status = -1;
    }
    if (!status)
        status = server_open_beside(shard, server, host, err);
    text_release(&sql);
    text_release(&answer);
    return status;
}

/* --- all servers --- */

int cluster_each(struct server *server, const struct cluster *cluster,
                 int (*visit)(void *self, struct server *server, struct err *err), void *self,
                 struct err *err)
{
    struct text sql, answer;
    char *rest = NULL;
    if (!*cluster->name)
        return visit(self, server, err);
    text_init(&sql, SQL_MOST_BYTES);
    text_init(&answer, ANSWER_MOST_BYTES);
    text_add(&sql, "SELECT DISTINCT host_name FROM system.clusters WHERE cluster = ");
    fleet_add_literal(&sql, cluster->name);
    int status = ask(server, &sql, &answer, err);
    if (!status && !*answer.data) {
        err_set(err, ERR_INPUT,
                "%s knows no cluster '%s': name it in its configuration, under remote_servers",
                server_name(server), cluster->name);
        status = -1;
    }
    for (char *host = status ? NULL : strtok_r(answer.data, "\n", &rest); host && !status;
         host = strtok_r(NULL, "\n", &rest)) {
        struct server *other = NULL;

        status = server_open_beside(&other, server, host, err) || visit(self, other, err) ? -1 : 0;
        server_close(other);
    }
    text_release(&sql);
    text_release(&answer);
    return status;
}

static int make_tables(void *self, struct server *server, struct err *err)
{
    const struct cluster *cluster = self;
    struct cluster found;
    struct text sql;
    struct err absent;
    int status = 0;
    /* Adds no table to those of another version. */
    if (cluster_read(&found, server, &absent) && server_exception(server) != SERVER_UNKNOWN_TABLE) {
        *err = absent;
        return -1;
    }
    text_init(&sql, SQL_MOST_BYTES);
    for (size_t i = 0;
         !status && fleet_schema_statement(&sql, *cluster->name ? FLEET_SHARDED : FLEET_SINGLE,
                                           cluster->name, i);
         i++)
        status = ask(server, &sql, NULL, err);
    text_release(&sql);
    return status;
}

int cluster_make(struct server *server, const char *name, struct err *err)
{
    struct cluster cluster;
    snprintf(cluster.name, sizeof cluster.name, "%s", name ? name : "");
    return cluster_each(server, &cluster, make_tables, &cluster, err);
}
