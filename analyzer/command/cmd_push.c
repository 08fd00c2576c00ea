/* SPDX-License-Identifier: MIT */
/* `gpumemtrace push`: sends traces to the database of a fleet. analyzer/push decides what is sent,
 * and in which form. */
#include "output.h"
#include "options.h"

#include "analyzer/fleet/cluster.h"
#include "analyzer/job/trace_files.h"
#include "analyzer/load/memory_limit.h"
#include "analyzer/push/keep.h"
#include "analyzer/push/push.h"

struct given {
    const char *to, *job, *run, *login, *create;
    bool summary_only;
    long timeout_s, keep_days, keep_event_days;
    int schema; /* enum fleet_dialect; 0: not given */
};

static const struct option_rule rules[] = {
    {"to", 0, OPTION_TEXT, "URL", "URL of the database: http://HOST:8123/DATABASE, or https",
     offsetof(struct given, to)},
    {"job", 0, OPTION_TEXT, "NAME",
     "name of the job (default: Slurm's name of the job, else the program's name)",
     offsetof(struct given, job)},
    {"run", 0, OPTION_TEXT, "NAME",
     "name of this run of the job (default: Slurm's job id, else torchrun's run id, else 1)",
     offsetof(struct given, run)},
    {"summary-only", 0, OPTION_FLAG, NULL,
     "send no events and no stacks, only a few kilobytes per rank",
     offsetof(struct given, summary_only)},
    {"login", 0, OPTION_TEXT, "FILE",
     "file with the user on the first line and the password on the second",
     offsetof(struct given, login)},
    {"timeout", 0, OPTION_COUNT, "SECONDS",
     "give up if no request succeeds for this long (default 120)",
     offsetof(struct given, timeout_s)},
    {"create", 0, OPTION_MAYBE, "CLUSTER",
     "create the tables first, on one server or on all servers of CLUSTER",
     offsetof(struct given, create)},
    {"keep-days", 0, OPTION_COUNT, "DAYS", "delete ranks that began more than DAYS days ago",
     offsetof(struct given, keep_days)},
    {"keep-event-days", 0, OPTION_COUNT, "DAYS",
     "delete events and stacks of ranks that began more than DAYS days ago, and keep their "
     "summaries",
     offsetof(struct given, keep_event_days)},
    {"schema", 0, OPTION_CHOICE, "single|sharded|postgresql",
     "print the tables as SQL and do nothing else", offsetof(struct given, schema)},
    {0},
};

static int write_schema(void *self, FILE *out, struct err *err)
{
    const int *schema = self;
    struct text sql;
    text_init(&sql, 1 << 16);
    for (size_t i = 0;
         fleet_schema_statement(&sql, (enum fleet_dialect) * schema, "gpumemtrace", i); i++)
        fprintf(out, "%s;\n", sql.data);
    const bool has_failed = text_failed(&sql);
    text_release(&sql);
    if (has_failed)
        err_set(err, ERR_SYSTEM, "out of memory for the schema");
    return has_failed ? -1 : 0;
}

static int push_operands(struct server *server, const struct given *given,
                         const struct command_options *options, struct err *err)
{
    const struct push_ask ask = {.origin = {given->job, given->run},
                                 .summary_only = given->summary_only};
    struct trace_files files;
    if (trace_files_find(&files, options->operands, options->operand_count, err))
        return -1;
    const int status = push_traces(server, files.paths, files.count, &ask, err);
    trace_files_release(&files);
    return status;
}

static int do_all(struct server *server, const struct given *given,
                  const struct command_options *options, struct err *err)
{
    struct cluster cluster;
    if (given->create && cluster_make(server, *given->create ? given->create : NULL, err))
        return -1;
    if (cluster_read(&cluster, server, err) ||
        (options->operand_count && push_operands(server, given, options, err)))
        return -1;
    return (given->keep_days && keep_days(server, given->keep_days, false, err)) ||
                   (given->keep_event_days && keep_days(server, given->keep_event_days, true, err))
               ? -1
               : 0;
}

int command_push(const struct command *command, int argc, char **argv, struct err *err)
{
    struct command_options options;
    struct given given = {.timeout_s = FLEET_TIMEOUT_S};
    struct server *server;
    if (options_parse(&options, command, rules, &given, argc, argv, err))
        return -1;
    if (given.schema)
        return command_write(&options, write_schema, &given.schema, err);
    if (!given.to ||
        (!options.operand_count && !given.create && !given.keep_days && !given.keep_event_days))
        return err_set(err, ERR_USAGE,
                       given.to ? "needs traces, or --create or --keep-days"
                                : "needs --to=http://HOST:8123/DATABASE");
    memory_limit_set(options.memory_limit_bytes);
    if (server_open(&server, given.to, given.login, given.timeout_s, err))
        return -1;
    const int status = do_all(server, &given, &options, err);
    server_close(server);
    return status;
}
