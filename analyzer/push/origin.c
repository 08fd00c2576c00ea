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
static void name_program(char name[FLEET_NAME_BYTES], const char *command)
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
    snprintf(name, FLEET_NAME_BYTES, "%.*s", (int)length, length ? word : "");
    if (!*name)
        snprintf(name, FLEET_NAME_BYTES, "unnamed");
}

/* Refuses a long name, because `fleet` would not find it by its whole name if it were cut. */
static int take_name(char name[FLEET_NAME_BYTES], const char *value, const char *what,
                     struct err *err)
{
    const size_t length = strlen(value);
    if (length >= FLEET_NAME_BYTES)
        return err_set(err, ERR_USAGE,
                       "the name of the %s has %zu bytes, but at most %d are possible; give "
                       "another with --%s",
                       what, length, FLEET_NAME_BYTES - 1, what);
    memcpy(name, value, length + 1);
    return 0;
}

static int name_run(char name[FLEET_NAME_BYTES], const struct trace *trace, struct err *err)
{
    const char *array = trace_job_variable(trace, "SLURM_ARRAY_JOB_ID"),
               *task = trace_job_variable(trace, "SLURM_ARRAY_TASK_ID");
    const char *slurm = trace_job_variable(trace, "SLURM_JOB_ID"),
               *torch = trace_job_variable(trace, "TORCHELASTIC_RUN_ID");
    if (array && task) {
        snprintf(name, FLEET_NAME_BYTES, "%.90s_%.90s", array, task);
        return 0;
    }
    if (slurm)
        return take_name(name, slurm, "run", err);
    return take_name(name, torch && strcmp(torch, "none") ? torch : "1", "run", err);
}

static int name_origin(struct origin *origin, const struct trace *trace,
                       const struct origin_ask *ask, struct err *err)
{
    const char *job = ask->job ? ask->job : trace_job_variable(trace, "SLURM_JOB_NAME");
    if (job && take_name(origin->job, job, "job", err))
        return -1;
    if (!job)
        name_program(origin->job, trace->meta.command.value ? trace->meta.command.value : "");
    return ask->run ? take_name(origin->run, ask->run, "run", err)
                    : name_run(origin->run, trace, err);
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
    const int status = name_origin(origin, &trace, ask, err);
    trace_release(&trace);
    return status;
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
