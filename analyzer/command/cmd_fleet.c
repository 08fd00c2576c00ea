/* SPDX-License-Identifier: MIT */
/* `gpumemtrace fleet`: describes a run of many ranks, from the database that `push` filled. fleet/
 * makes the queries, page/fleet/ writes the answer. */
#include "output.h"
#include "options.h"

#include "analyzer/fleet/fleet.h"
#include "analyzer/page/fleet/fleet.h"

struct given {
    const char *from, *job, *run, *against, *login;
    bool sql;
    long timeout_s;
};

static const struct option_rule rules[] = {
    {"from", 0, OPTION_TEXT, "URL", "URL of the database: http://HOST:8123/DATABASE, or https",
     offsetof(struct given, from)},
    {"job", 0, OPTION_TEXT, "NAME", "show this job (default: the job of the run that began last)",
     offsetof(struct given, job)},
    {"run", 0, OPTION_TEXT, "NAME", "show this run of the job (default: the last one)",
     offsetof(struct given, run)},
    {"against", 0, OPTION_TEXT, "[JOB/]RUN", "compare with another run, of this or another job",
     offsetof(struct given, against)},
    {"sql", 0, OPTION_FLAG, NULL, "print the SQL statements, to run by hand, and query nothing",
     offsetof(struct given, sql)},
    {"login", 0, OPTION_TEXT, "FILE",
     "file with the user on the first line and the password on the second",
     offsetof(struct given, login)},
    {"timeout", 0, OPTION_COUNT, "SECONDS",
     "give up if no request succeeds for this long (default 120)",
     offsetof(struct given, timeout_s)},
    {0},
};

static int write_statements(void *self, FILE *out, struct err *err)
{
    const struct given *given = self;
    const struct query_values values = {given->job, given->run, given->job, given->against};
    struct text sql;
    bool has_failed = false;
    text_init(&sql, 1 << 18);
    for (int i = 0; i < QUERIES; i++) {
        query_write(&sql, (enum query)i, &values);
        fprintf(out, "-- %s\n%s;\n\n", queries[i].name, sql.data);
        has_failed |= text_failed(&sql);
    }
    text_release(&sql);
    if (has_failed)
        err_set(err, ERR_SYSTEM, "out of memory for a statement");
    return has_failed ? -1 : 0;
}

static int print_page(const struct fleet *fleet, const struct command_options *options,
                      struct err *err)
{
    struct doc *doc = NULL;
    if (page_fleet(&doc, options->format->reads, fleet, err))
        return -1;
    const int status = command_print(doc, options, err);
    doc_free(doc);
    return status;
}

static int print_answers(struct server *server, const struct given *given,
                         const struct command_options *options, struct err *err)
{
    const struct fleet_ask ask = {given->job, given->run, given->against};
    struct fleet fleet;
    if (fleet_read(&fleet, server, &ask, err))
        return -1;
    const int status = print_page(&fleet, options, err);
    fleet_release(&fleet);
    return status;
}

int command_fleet(const struct command *command, int argc, char **argv, struct err *err)
{
    struct command_options options;
    struct given given = {.timeout_s = FLEET_TIMEOUT_S};
    struct server *server;
    if (options_parse(&options, command, rules, &given, argc, argv, err))
        return -1;
    if (given.sql)
        return command_write(&options, write_statements, &given, err);
    if (!given.from)
        return err_set(err, ERR_USAGE, "needs --from=http://HOST:8123/DATABASE");
    if (server_open(&server, given.from, given.login, given.timeout_s, err))
        return -1;
    const int status = print_answers(server, &given, &options, err);
    server_close(server);
    return status;
}
