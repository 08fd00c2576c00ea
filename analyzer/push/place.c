/* SPDX-License-Identifier: MIT */
/* See place.h. */
#include "place.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/fleet/cluster.h"
#include "analyzer/util/clock.h"
#include "analyzer/util/hash.h"
#include "gpumemtrace/version.h"

static const enum fleet_table details[] = {FLEET_event, FLEET_stack};
enum {
    DETAILS = sizeof details / sizeof *details,
    SQL_MOST_BYTES = 1 << 16,
    ANSWER_MOST_BYTES = 1 << 20,
    SEND_MOST = 5,
    STAGING_MOST = 16,
    LISTINGS_MOST = 64
};

/* ClickHouse returns these errors if the folder of a table of that name is left from a crash. The
 * name stays unusable. */
enum { TABLE_ALREADY_EXISTS = 57, UNCLEAN_DROP = 117 };

static int ask(struct place *place, struct err *err)
{
    if (!text_failed(&place->sql))
        return server_ask(place->server, place->sql.data, &place->answer, err);
    return err_set(err, ERR_SYSTEM, "out of memory for a statement");
}

/* Writes the name of a table on the server that has the rank. */
static void name_table(const struct place *place, enum fleet_table table,
                       char name[PLACE_TABLE_BYTES])
{
    snprintf(name, PLACE_TABLE_BYTES, "%s%s", fleet_tables[table].name, place->suffix);
}

void place_staging(const struct place *place, enum fleet_table table, char name[PLACE_TABLE_BYTES])
{
    snprintf(name, PLACE_TABLE_BYTES, "staging_%016llx_%llx_%d_%s", place->rank_id, place->key.push,
             place->staging, fleet_tables[table].name);
}

/* Adds the condition for one rank: "job = 'x' AND run = 'y' AND rank = 3". */
static void add_rank(struct text *sql, const struct fleet_key *key)
{
    text_add(sql, "job = ");
    fleet_add_literal(sql, key->job);
    text_add(sql, " AND run = ");
    fleet_add_literal(sql, key->run);
    text_addf(sql, " AND rank = %d", key->rank);
}

/* --- the number of the push --- */

/* Returns a number from the clock. choose_number makes it larger than all earlier numbers of the
 * rank, because the clocks of hosts differ. */
static unsigned long long number_now(void)
{
    const uint64_t now_ns = clock_ns(CLOCK_REALTIME);
    return (now_ns / 1000) << 12 | (hash_mix(now_ns ^ hash_seed() ^ (uint64_t)getpid()) & 0xfff);
}

static int choose_number(struct place *place, struct err *err)
{
    char table[PLACE_TABLE_BYTES];
    name_table(place, FLEET_push, table);
    text_clear(&place->sql);
    text_addf(&place->sql, "SELECT max(push) FROM %s WHERE ", table);
    add_rank(&place->sql, &place->key);
    if (ask(place, err))
        return -1;
    const unsigned long long last = strtoull(place->answer.data, NULL, 10), now = number_now();
    place->key.push = now > last ? now : last + 1;
    return 0;
}

/* --- opening --- */

static int find_server(struct place *place, struct server *server, struct err *err)
{
    struct cluster cluster;
    if (cluster_read(&cluster, server, err))
        return -1;
    place->server = server;
    place->suffix = *cluster.name ? "_local" : "";
    if (!*cluster.name)
        return 0;
    place->owns_server = true;
    return cluster_open(&place->server, server, &cluster, &place->key, err);
}

int place_open(struct place *place, struct server *server, const struct origin *origin,
               struct err *err)
{
    *place = (struct place){
        .key = {.day = origin->day, .job = origin->job, .run = origin->run, .rank = origin->rank}};
    text_init(&place->sql, SQL_MOST_BYTES);
    text_init(&place->answer, ANSWER_MOST_BYTES);
    place->rank_id = hash_bytes(origin->job, strlen(origin->job), 1) ^
                     hash_bytes(origin->run, strlen(origin->run), 2) ^
                     hash_mix((uint64_t)origin->rank);
    if (!find_server(place, server, err) && !choose_number(place, err))
        return 0;
    place_release(place);
    return -1;
}

void place_release(struct place *place)
{
    if (place->owns_server)
        server_close(place->server);
    text_release(&place->sql);
    text_release(&place->answer);
    place->owns_server = false;
}

/* --- details --- */

int place_drop_staging(struct place *place, struct err *err)
{
    char name[PLACE_TABLE_BYTES];
    for (size_t i = 0; i < DETAILS; i++) {
        place_staging(place, details[i], name);
        text_clear(&place->sql);
        text_addf(&place->sql, "DROP TABLE IF EXISTS %s", name);
        if (ask(place, err))
            return -1;
    }
    return 0;
}

/* Asks for the names of the staging tables of all pushes of the rank. Old servers answer that a
 * table is unknown if the push of another rank drops one while they make the list. In this case,
 * asks again. */
static int list_staging(struct place *place, struct err *err)
{
    int status = -1;
    text_clear(&place->sql);
    text_addf(&place->sql, "SHOW TABLES LIKE 'staging_%016llx_%%'", place->rank_id);
    for (int i = 0; i < LISTINGS_MOST; i++) {
        status = ask(place, err);
        if (!status || server_exception(place->server) != SERVER_UNKNOWN_TABLE)
            break;
    }
    return status;
}

/* Drops the staging tables of all pushes of the rank. One that is still under way then ends with an
 * error, so that it cannot add its rows to those of this push. */
static int drop_all_staging(struct place *place, struct err *err)
{
    int status;
    if (list_staging(place, err))
        return -1;
    char *names = strdup(place->answer.data), *rest = NULL;
    status = names ? 0 : -1;
    if (!names)
        err_set(err, ERR_SYSTEM, "out of memory for the names of staging tables");
    for (char *name = names ? strtok_r(names, "\n", &rest) : NULL; name && !status;
         name = strtok_r(NULL, "\n", &rest)) {
        text_clear(&place->sql);
        text_addf(&place->sql, "DROP TABLE IF EXISTS %s", name);
        status = ask(place, err);
    }
    free(names);
    return status;
}

static int make_staging(struct place *place, struct err *err)
{
    char name[PLACE_TABLE_BYTES];
    for (size_t i = 0; i < DETAILS; i++) {
        place_staging(place, details[i], name);
        fleet_staging_statement(&place->sql, details[i], name, &place->key);
        if (ask(place, err))
            return -1;
    }
    return 0;
}

int place_make_staging(struct place *place, struct err *err)
{
    if (drop_all_staging(place, err))
        return -1;
    for (place->staging = 0; make_staging(place, err); place->staging++) {
        const int exception = server_exception(place->server);

        if ((exception != TABLE_ALREADY_EXISTS && exception != UNCLEAN_DROP) ||
            place->staging + 1 == STAGING_MOST)
            return -1;
    }
    return 0;
}

int place_move(struct place *place, enum fleet_table table, struct err *err)
{
    char name[PLACE_TABLE_BYTES], staging[PLACE_TABLE_BYTES];
    name_table(place, table, name);
    place_staging(place, table, staging);
    text_clear(&place->sql);
    text_addf(&place->sql, "ALTER TABLE %s REPLACE PARTITION ", name);
    fleet_add_partition(&place->sql, &place->key);
    text_addf(&place->sql, " FROM %s", staging);
    return ask(place, err);
}

static int drop_partition(struct place *place, const struct fleet_key *key, struct err *err)
{
    char name[PLACE_TABLE_BYTES];
    for (size_t i = 0; i < DETAILS; i++) {
        name_table(place, details[i], name);
        text_clear(&place->sql);
        text_addf(&place->sql, "ALTER TABLE %s DROP PARTITION ", name);
        fleet_add_partition(&place->sql, key);
        if (ask(place, err))
            return -1;
    }
    return 0;
}

int place_forget(struct place *place, struct err *err)
{
    char table[PLACE_TABLE_BYTES];
    name_table(place, FLEET_event, table);
    text_clear(&place->sql);
    text_addf(&place->sql, "SELECT DISTINCT toString(day), push FROM %s WHERE ", table);
    add_rank(&place->sql, &place->key);
    text_addf(&place->sql, " AND push < %llu", place->key.push);
    if (ask(place, err))
        return -1;
    char *old = strdup(place->answer.data), *rest = NULL;
    int status = old ? 0 : -1;
    if (!old)
        err_set(err, ERR_SYSTEM, "out of memory for earlier pushes");
    for (char *line = old ? strtok_r(old, "\n", &rest) : NULL; line && !status;
         line = strtok_r(NULL, "\n", &rest)) {
        struct fleet_key key = place->key;
        char *tab = strchr(line, '\t');

        if (!tab)
            continue;
        *tab = '\0';
        key.day = line;
        key.push = strtoull(tab + 1, NULL, 10);
        status = drop_partition(place, &key, err);
    }
    free(old);
    return status;
}

/* --- the summary --- */

int place_has(struct place *place, const uint64_t counts[FLEET_TABLES], bool *has, struct err *err)
{
    const char *separator = "SELECT sum(is_there) = count() FROM (";
    char table[PLACE_TABLE_BYTES];

    text_clear(&place->sql);
    for (int i = 0; i < FLEET_TABLES; i++) {
        if (!counts[i])
            continue;
        name_table(place, (enum fleet_table)i, table);
        text_addf(&place->sql, "%sSELECT count() = %" PRIu64 " AS is_there FROM %s WHERE ",
                  separator, counts[i], table);
        add_rank(&place->sql, &place->key);
        text_addf(&place->sql, " AND push = %llu", place->key.push);
        separator = " UNION ALL ";
    }
    text_add(&place->sql, ")");
    if (ask(place, err))
        return -1;
    *has = *place->answer.data == '1';
    return 0;
}

int place_send(struct place *place, const struct rows *rows, struct err *err)
{
    char table[PLACE_TABLE_BYTES], insert[PLACE_TABLE_BYTES + 64];
    uint64_t counts[FLEET_TABLES] = {0};
    bool has = false;
    name_table(place, rows->table, table);
    snprintf(insert, sizeof insert, "INSERT INTO %s FORMAT %s", table, rows_format(rows));
    counts[rows->table] = rows->count;
    for (int attempt = 0; attempt < SEND_MOST && !has; attempt++)
        switch (server_send(place->server, insert, rows->body.data, rows->body.length, err)) {
        case SERVER_SENT:
            return 0;
        case SERVER_REFUSED:
            return -1;
        case SERVER_UNKNOWN:
            if (place_has(place, counts, &has, err))
                return -1;
        }
    return has ? 0 : -1;
}

int place_show(struct place *place, bool has_details, uint64_t row_count, struct err *err)
{
    struct rows rows;
    rows_init(&rows, FLEET_push, &place->key);
    rows_begin(&rows);
    rows_text(&rows, FLEET_push_version, GMT_VERSION);
    rows_number(&rows, FLEET_push_pushed_unix_ns, clock_ns(CLOCK_REALTIME));
    rows_number(&rows, FLEET_push_details, has_details);
    rows_number(&rows, FLEET_push_rows, row_count);
    rows_end(&rows);
    const int status = rows_check(&rows, err) || place_send(place, &rows, err) ? -1 : 0;
    rows_release(&rows);
    return status;
}
