/* SPDX-License-Identifier: MIT */
/* See fleet.h. */
#include "fleet.h"

#include <stdio.h>
#include <string.h>

#include "cluster.h"

enum { SQL_MOST_BYTES = 1 << 18 };

static int ask_query(struct answer_table *answer, struct server *server, enum query query,
                     const struct query_values *values, struct err *err)
{
    struct text sql;
    text_init(&sql, SQL_MOST_BYTES);
    query_write(&sql, query, values);
    int status = text_failed(&sql) ? -1 : answer_ask(answer, server, sql.data, err);
    if (text_failed(&sql))
        err_set(err, ERR_SYSTEM, "out of memory for the statement '%s'", queries[query].name);
    text_release(&sql);
    return status;
}

static struct query_values values_of(const struct fleet *fleet)
{
    return (struct query_values){fleet->job, fleet->run, fleet->other_job, fleet->other_run};
}

static void tell_no_run(const struct server *server, const struct query_values *wanted,
                        struct err *err)
{
    const char *job = wanted->job ? wanted->job : "", *run = wanted->run ? wanted->run : "";
    if (*job || *run)
        err_set(err, ERR_INPUT, "%s has no run%s%s%s%s%s%s in '%s'", server_name(server),
                *run ? " '" : "", run, *run ? "'" : "", *job ? " of a job '" : "", job,
                *job ? "'" : "", server_database(server));
    else
        err_set(err, ERR_INPUT,
                "no rank was pushed to '%s' of %s yet: gpumemtrace push --to=URL TRACE…",
                server_database(server), server_name(server));
}

/* Finds the newest of the runs that match `wanted`. */
static int find_run(char job[FLEET_NAME_BYTES], char run[FLEET_NAME_BYTES], struct server *server,
                    const struct query_values *wanted, struct err *err)
{
    struct answer_table runs;
    if (ask_query(&runs, server, QUERY_runs, wanted, err))
        return -1;
    const bool is_there = runs.row_count > 0;
    if (is_there) {
        snprintf(job, FLEET_NAME_BYTES, "%s", answer_text(&runs, 0, "job"));
        snprintf(run, FLEET_NAME_BYTES, "%s", answer_text(&runs, 0, "run"));
    } else {
        tell_no_run(server, wanted, err);
    }
    answer_release(&runs);
    return is_there ? 0 : -1;
}

static int find_other(struct fleet *fleet, struct server *server, const char *against,
                      struct err *err)
{
    const char *slash = strrchr(against, '/');
    char job[FLEET_NAME_BYTES];
    snprintf(job, sizeof job, "%.*s", slash ? (int)(slash - against) : (int)strlen(fleet->job),
             slash ? against : fleet->job);
    const struct query_values wanted = {.job = job, .run = slash ? slash + 1 : against};
    return find_run(fleet->other_job, fleet->other_run, server, &wanted, err);
}

int fleet_read(struct fleet *fleet, struct server *server, const struct fleet_ask *ask,
               struct err *err)
{
    const struct query_values wanted = {.job = ask->job, .run = ask->run};
    struct cluster cluster;
    int status = 0;
    *fleet = (struct fleet){0};
    if (cluster_read(&cluster, server, err) ||
        find_run(fleet->job, fleet->run, server, &wanted, err) ||
        (ask->against && find_other(fleet, server, ask->against, err)))
        return -1;
    for (int i = 0; i < QUERIES && !status; i++) {
        const struct query_values values = values_of(fleet);

        if (!queries[i].is_of_two || ask->against)
            status = ask_query(&fleet->answers[i], server, (enum query)i, &values, err);
    }
    if (status)
        fleet_release(fleet);
    return status;
}

void fleet_release(struct fleet *fleet)
{
    for (int i = 0; i < QUERIES; i++)
        answer_release(&fleet->answers[i]);
}
