/* SPDX-License-Identifier: MIT */
/* Drops old partitions; see keep.h. */
#include "keep.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/fleet/cluster.h"

enum { SQL_MOST_BYTES = 1 << 16 };

struct keeping {
    long days;
    bool details_alone;
    const char *suffix;
};

static int drop(struct server *server, const char *name, const char *partition, struct err *err)
{
    struct text sql;
    text_init(&sql, SQL_MOST_BYTES);
    text_addf(&sql, "ALTER TABLE %s DROP PARTITION ", name);
    text_add(&sql, partition);
    int status = text_failed(&sql) ? -1 : server_ask(server, sql.data, NULL, err);
    if (text_failed(&sql))
        err_set(err, ERR_SYSTEM, "out of memory for a statement");
    text_release(&sql);
    return status;
}

/* The server prints each partition in the form that DROP PARTITION needs: '2026-11-24', or a tuple
 * that begins with the day. */
static int keep_in_table(struct server *server, const struct keeping *keeping,
                         enum fleet_table table, struct err *err)
{
    const bool is_detail = fleet_tables[table].kind == FLEET_DETAIL;
    char name[96], *rest = NULL;
    struct text sql, answer;
    snprintf(name, sizeof name, "%s%s", fleet_tables[table].name, keeping->suffix);
    text_init(&sql, SQL_MOST_BYTES);
    text_init(&answer, FLEET_ANSWER_MOST_BYTES);
    text_addf(&sql,
              "SELECT DISTINCT %s FROM system.parts WHERE active AND database = currentDatabase() "
              "AND table = '%s' AND "
              "toDate(substring(partition, %d, 10)) < today() - %ld FORMAT TabSeparatedRaw",
              is_detail ? "partition" : "concat('\\'', partition, '\\'')", name, is_detail ? 3 : 1,
              keeping->days);
    int status = text_failed(&sql) ? -1 : server_ask(server, sql.data, &answer, err);
    if (text_failed(&sql))
        err_set(err, ERR_SYSTEM, "out of memory for a statement");
    for (char *line = status ? NULL : strtok_r(answer.data, "\n", &rest); line && !status;
         line = strtok_r(NULL, "\n", &rest))
        status = drop(server, name, line, err);
    text_release(&sql);
    text_release(&answer);
    return status;
}

static int keep_on_server(void *self, struct server *server, struct err *err)
{
    const struct keeping *keeping = self;
    for (int i = 0; i < FLEET_TABLES; i++)
        if ((fleet_tables[i].kind == FLEET_DETAIL || !keeping->details_alone) &&
            keep_in_table(server, keeping, (enum fleet_table)i, err))
            return -1;
    return 0;
}

int keep_days(struct server *server, long days, bool details_alone, struct err *err)
{
    struct cluster cluster;
    if (cluster_read(&cluster, server, err))
        return -1;
    struct keeping keeping = {days, details_alone, *cluster.name ? "_local" : ""};
    return cluster_each(server, &cluster, keep_on_server, &keeping, err);
}
