/* SPDX-License-Identifier: MIT */
/* See origin.h. */
#include "origin.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/load/load.h"

/* --- names --- */

static const char *base_name(const char *path, size_t length)
{
    const char *slash = memrchr(path, '/', length);

    return slash ? slash + 1 : path;
}

/* Names the job after the program: "train.py" for "python3 train.py --lr=1". If a module is run
 * with -m, takes the module's name. */
static void name_program(char name[ORIGIN_NAME_BYTES], const char *command)
{
    size_t length = strcspn(command, " ");
    const char *word = base_name(command, length);

    if (!strncmp(word, "python", 6)) {
        const char *next = command + length;

        do {
            next += strspn(next, " ");
            length = strcspn(next, " ");
            word = base_name(next, length);
            next += length;
        } while (length && *word == '-');
    } else {
        length = strcspn(word, " ");
    }
    length = strcspn(word, " ");
    snprintf(name, ORIGIN_NAME_BYTES, "%.*s", (int)length, length ? word : "");
    if (!*name)
        snprintf(name, ORIGIN_NAME_BYTES, "unnamed");
}

static void name_run(char name[ORIGIN_NAME_BYTES], const struct trace *trace)
{
    const char *array = trace_job_variable(trace, "SLURM_ARRAY_JOB_ID"),
               *task = trace_job_variable(trace, "SLURM_ARRAY_TASK_ID");
    const char *slurm = trace_job_variable(trace, "SLURM_JOB_ID"),
               *torch = trace_job_variable(trace, "TORCHELASTIC_RUN_ID");

    if (array && task)
        snprintf(name, ORIGIN_NAME_BYTES, "%.90s_%.90s", array, task);
    else if (slurm)
        snprintf(name, ORIGIN_NAME_BYTES, "%s", slurm);
    else
        snprintf(name, ORIGIN_NAME_BYTES, "%s", torch && strcmp(torch, "none") ? torch : "1");
}

static void name_origin(struct origin *origin, const struct trace *trace,
                        const struct origin_ask *ask)
{
    const char *job = ask->job ? ask->job : trace_job_variable(trace, "SLURM_JOB_NAME");

    if (job)
        snprintf(origin->job, sizeof origin->job, "%s", job);
    else
        name_program(origin->job, trace->meta.command.value ? trace->meta.command.value : "");
    if (ask->run)
        snprintf(origin->run, sizeof origin->run, "%s", ask->run);
    else
        name_run(origin->run, trace);
}

/* --- all of it --- */

int origin_read(struct origin *origin, const char *path, const struct origin_ask *ask,
                struct err *err)
{
    static const char *const ranks[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID",
                                        NULL};
    static const char *const local_ranks[] = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
                                              "SLURM_LOCALID", NULL};
    struct trace trace;
    struct tm day;

    if (load_trace(&trace, path, err))
        return -1;
    const struct trace_integer known = trace.meta.rank, reported = trace_job_number(&trace, ranks);
    *origin = (struct origin){.path = path,
                              .rank = known.known && known.value >= 0 && known.value <= INT32_MAX
                                          ? (int)known.value
                                          : (int)reported.value,
                              .local_rank = trace_job_number(&trace, local_ranks),
                              .world_size = trace_world_size(&trace)};
    if (trace.meta.start_unix_ns.known && trace.meta.start_unix_ns.value > 0)
        origin->start_unix_ns = (uint64_t)trace.meta.start_unix_ns.value;
    const time_t seconds = (time_t)(origin->start_unix_ns / 1000000000);
    gmtime_r(&seconds, &day);
    strftime(origin->day, sizeof origin->day, "%Y-%m-%d", &day);
    name_origin(origin, &trace, ask);
    trace_release(&trace);
    return 0;
}

int origin_compare(const void *left, const void *right)
{
    const struct origin *a = left, *b = right;
    int order = strcmp(a->job, b->job);

    order = order ? order : strcmp(a->run, b->run);
    order = order ? order : (a->rank > b->rank) - (a->rank < b->rank);
    return order ? order
                 : (a->start_unix_ns > b->start_unix_ns) - (a->start_unix_ns < b->start_unix_ns);
}
