/* SPDX-License-Identifier: MIT */
/* See push.h. */
#include "push.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/study_open.h"
#include "analyzer/symbol/keep_names.h"
#include "analyzer/util/array.h"
#include "analyzer/util/say.h"
#include "details.h"
#include "place.h"
#include "summary.h"

/* The traces of one rank. */
struct rank_push {
    struct place place;
    const struct origin *origins;
    int count;
    const struct push_ask *ask;
    struct summary summary;
    struct stream streams[2]; /* events and stacks; unused with summary_only */
    uint64_t row_count;
};
enum { EVENTS, STACKS };

/* --- reading --- */

static int read_process(struct rank_push *rank, int process, struct err *err)
{
    const struct origin *origin = &rank->origins[process];
    struct export export = {.view = {.device = -1}};
    struct details details;
    int status = -1;
    details_begin(&details, &rank->streams[EVENTS], process);
    const struct observer observer = details_observer(&details);
    const struct study_ask ask = {.needs = summary_needs,
                                  .watchers = {&observer, rank->ask->summary_only ? 0 : 1}};
    if (study_open(&export.study, origin->path, &ask, err))
        goto out;
    status = symbols_set_sources(export.study.symbols, &export.view.sources, err) ||
                     (!rank->ask->summary_only &&
                      details_add_stacks(&details, &export, &rank->streams[STACKS], err)) ||
                     summary_add(&rank->summary, &export.study, origin, process, err)
                 ? -1
                 : 0;
    if (!status) {
        trace_close_events(&export.study.trace);
        status = keep_names(&export.study.trace, export.study.symbols, err);
    }
    study_release(&export.study);
out:
    details_release(&details);
    return status;
}

static int read_processes(struct rank_push *rank, struct err *err)
{
    for (int i = 0; i < rank->count; i++)
        if (read_process(rank, i, err))
            return -1;
    return 0;
}

/* --- details: into staging tables, then visible at once --- */

static int begin_streams(struct rank_push *rank, struct err *err)
{
    static const enum fleet_table tables[] = {FLEET_event, FLEET_stack};
    char name[PLACE_TABLE_BYTES];
    if (place_make_staging(&rank->place, err))
        return -1;
    for (int i = 0; i < 2; i++) {
        place_staging(&rank->place, tables[i], name);
        if (stream_begin(&rank->streams[i], rank->place.server, tables[i], name, err))
            return -1;
    }
    return 0;
}

/* An empty staging table has no partition, so new servers refuse to move it. */
static int end_streams(struct rank_push *rank, struct err *err)
{
    for (int i = 0; i < 2; i++) {
        if (stream_end(&rank->streams[i], err))
            return -1;
        rank->row_count += rank->streams[i].sent_rows;
    }
    for (int i = 0; i < 2; i++)
        if (rank->streams[i].sent_rows && place_move(&rank->place, rank->streams[i].table, err))
            return -1;
    return 0;
}

static void tell_staging_lost(const struct rank_push *rank, struct err *err)
{
    const struct fleet_key *key = &rank->place.key;
    if (strstr(err->message, "staging_"))
        err_set(err, ERR_INPUT,
                "another push of rank %d of job '%.150s', run '%.150s', to %s began and replaces "
                "this one",
                key->rank, key->job, key->run, server_name(rank->place.server));
}

static int push_details(struct rank_push *rank, struct err *err)
{
    if (rank->ask->summary_only)
        return read_processes(rank, err);
    const int status =
        begin_streams(rank, err) || read_processes(rank, err) || end_streams(rank, err) ? -1 : 0;
    for (int i = 0; i < 2; i++)
        stream_release(&rank->streams[i]);
    if (status && server_exception(rank->place.server) == SERVER_UNKNOWN_TABLE)
        tell_staging_lost(rank, err);
    return status;
}

/* --- the summary --- */

static int send_summary(struct rank_push *rank, bool *is_there, struct err *err)
{
    uint64_t counts[FLEET_TABLES] = {0};
    for (int i = 0; i < FLEET_TABLES; i++) {
        const struct rows *rows = &rank->summary.tables[i];

        counts[i] = rows->count;
        if (rows->count && place_send(&rank->place, rows, err))
            return -1;
    }
    return place_has(&rank->place, counts, is_there, err);
}

static int push_summary(struct rank_push *rank, struct err *err)
{
    bool is_there = false;
    if (send_summary(rank, &is_there, err))
        return -1;
    if (!is_there)
        return err_set(err, ERR_INPUT,
                       "%s lost a part of the summary of rank %d while it was sent; push again",
                       server_name(rank->place.server), rank->place.key.rank);
    for (int i = 0; i < FLEET_TABLES; i++)
        rank->row_count += rank->summary.tables[i].count;
    return 0;
}

/* --- a rank --- */

static void say_pushed(const struct rank_push *rank)
{
    char line[2 * FLEET_NAME_BYTES + 128];
    snprintf(line, sizeof line, "rank %d of job '%s', run '%s': %" PRIu64 " rows%s",
             rank->place.key.rank, rank->place.key.job, rank->place.key.run, rank->row_count,
             rank->ask->summary_only ? ", the summary alone" : "");
    command_say("push", line);
}

static int push_rank(struct server *server, const struct origin *origins, int count,
                     const struct push_ask *ask, struct err *err)
{
    struct rank_push rank = {.origins = origins, .count = count, .ask = ask};
    if (place_open(&rank.place, server, &origins[0], err))
        return -1;
    summary_init(&rank.summary, &rank.place.key);
    int status = push_details(&rank, err) || push_summary(&rank, err) ||
                         place_show(&rank.place, !ask->summary_only, rank.row_count, err)
                     ? -1
                     : 0;
    if (!status)
        status = place_forget(&rank.place, err) || place_drop_staging(&rank.place, err) ? -1 : 0;
    if (!status)
        say_pushed(&rank);
    summary_release(&rank.summary);
    place_release(&rank.place);
    return status;
}

static bool is_same_rank(const struct origin *a, const struct origin *b)
{
    return a->rank == b->rank && !strcmp(a->job, b->job) && !strcmp(a->run, b->run);
}

int push_traces(struct server *server, const char *const *paths, int count,
                const struct push_ask *ask, struct err *err)
{
    struct origin *origins = array_new((size_t)count, sizeof *origins, err);
    int status = origins ? 0 : -1;
    for (int i = 0; i < count && !status; i++)
        status = origin_read(&origins[i], paths[i], &ask->origin, err);
    if (!status)
        SORT(origins, count, origin_compare);
    for (int first = 0, next; first < count && !status; first = next) {
        for (next = first + 1; next < count && is_same_rank(&origins[first], &origins[next]);)
            next++;
        status = push_rank(server, &origins[first], next - first, ask, err);
    }
    free(origins);
    return status;
}

/* --- into files --- */

static FILE *open_file(const char *folder, const char *name, const char *ending, struct err *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s", folder, name, ending);
    FILE *file = fopen(path, "we");
    if (!file)
        err_set(err, ERR_SYSTEM, "cannot write %s: %s", path, strerror(errno));
    return file;
}

static int close_file(FILE *file, int status, struct err *err)
{
    const bool has_failed = ferror(file) != 0;
    if (!(fclose(file) || has_failed) || status)
        return status;
    return err_set(err, ERR_SYSTEM, "cannot write the result: %s",
                   errno ? strerror(errno) : "an earlier write failed");
}

static int write_schema(const char *folder, const char *name, enum fleet_dialect dialect,
                        struct err *err)
{
    FILE *file = open_file(folder, name, "sql", err);
    struct text sql;
    if (!file)
        return -1;
    text_init(&sql, 1 << 16);
    for (size_t i = 0; fleet_schema_statement(&sql, dialect, "", i); i++)
        fprintf(file, "%s;\n", sql.data);
    text_release(&sql);
    return close_file(file, 0, err);
}

static int write_summary(const char *folder, const struct summary *summary, struct err *err)
{
    for (int i = 0; i < FLEET_TABLES; i++) {
        const struct rows *rows = &summary->tables[i];
        FILE *file = summary_has((enum fleet_table)i)
                         ? open_file(folder, fleet_tables[i].name, "tsv", err)
                         : NULL;

        if (!file && summary_has((enum fleet_table)i))
            return -1;
        if (file && rows->count)
            fwrite(rows->body.data, 1, rows->body.length, file);
        if (file && close_file(file, 0, err))
            return -1;
    }
    return 0;
}

/* Writes events and stacks while they are read, and then the summary. */
static int write_rank(struct rank_push *rank, const char *folder, const struct fleet_key *key,
                      struct err *err)
{
    static const enum fleet_table tables[] = {FLEET_event, FLEET_stack};
    FILE *files[2] = {0};
    int status = 0;
    for (int i = 0; i < 2 && !status; i++) {
        files[i] = open_file(folder, fleet_tables[tables[i]].name, "tsv", err);
        stream_begin_file(&rank->streams[i], tables[i], key, files[i]);
        status = files[i] ? 0 : -1;
    }
    status = status ? status : read_processes(rank, err);
    for (int i = 0; i < 2; i++) {
        if (files[i] && !status)
            status = stream_end(&rank->streams[i], err);
        stream_release(&rank->streams[i]);
        if (files[i])
            status = close_file(files[i], status, err);
    }
    return status ? status : write_summary(folder, &rank->summary, err);
}

int push_to_folder(const char *folder, const char *path, struct err *err)
{
    const struct push_ask ask = {{NULL, NULL}, false};
    struct origin origin;
    struct rank_push rank = {.origins = &origin, .count = 1, .ask = &ask};
    if (origin_read(&origin, path, &ask.origin, err))
        return -1;
    const struct fleet_key key = {origin.day, origin.job, origin.run, origin.rank, 1};
    summary_init(&rank.summary, &key);
    const int status = write_rank(&rank, folder, &key, err) ||
                               write_schema(folder, "clickhouse", FLEET_SINGLE, err) ||
                               write_schema(folder, "postgresql", FLEET_POSTGRESQL, err)
                           ? -1
                           : 0;
    summary_release(&rank.summary);
    return status;
}
