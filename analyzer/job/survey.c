/* SPDX-License-Identifier: MIT */
/* Reads a trace's identity and sums, without a replay; see survey.h. */
#include "survey.h"

#include <inttypes.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/load/query.h"
#include "analyzer/util/array.h"
#include "analyzer/util/clock.h"
#include "gpumemtrace/event.h"

/* More threads than this would only wait for the disk. */
enum { THREADS_MOST = 8 };

/* --- one trace --- */

struct survey_query {
    struct survey *survey;
    sqlite3 *db;
    char *peaks; /* as the recorder wrote them; NULL: none */
    struct err *err;
};

typedef int take_row(struct survey_query *query, sqlite3_stmt *row);

static int each_row(struct survey_query *query, const char *table, const char *select,
                    take_row *take)
{
    sqlite3_stmt *rows;
    int step = SQLITE_ROW, status = 0;
    if (query_prepare(query->survey->path, query->db, select, &rows, query->err))
        return -1;
    while (!status && (step = sqlite3_step(rows)) == SQLITE_ROW)
        status = take(query, rows);
    if (!status && step != SQLITE_DONE)
        status = query_failed(query->survey->path, query->db, table, query->err);
    sqlite3_finalize(rows);
    return status;
}

static void take_integer(struct trace_integer *into, sqlite3_stmt *row)
{
    if (sqlite3_column_type(row, 1) == SQLITE_INTEGER)
        *into = (struct trace_integer){sqlite3_column_int64(row, 1), true};
}

/* Reads a text. *text becomes NULL if the column is null. */
static int text_of(const char **text, sqlite3_stmt *row, int column, struct err *err)
{
    const bool is_there = sqlite3_column_type(row, column) != SQLITE_NULL;
    *text = (const char *)sqlite3_column_text(row, column);
    if (!is_there || *text)
        return 0;
    return err_set(err, ERR_SYSTEM, "out of memory for the job");
}

static int take_text(char **into, sqlite3_stmt *row, struct err *err)
{
    const char *text;
    if (text_of(&text, row, 1, err))
        return -1;
    free(*into);
    *into = text ? strdup(text) : NULL;
    if (text && !*into)
        err_set(err, ERR_SYSTEM, "out of memory for the job");
    return text && !*into ? -1 : 0;
}

/* Returns the last of the recorder's sums. It counts the calls that failed. */
static int64_t last_number(const char *sums)
{
    const char *space = strrchr(sums, ' ');
    return space ? strtoll(space + 1, NULL, 10) : 0;
}

static int take_meta(struct survey_query *query, sqlite3_stmt *row)
{
    struct survey *survey = query->survey;
    const char *key, *sums;
    const struct {
        const char *key;
        struct trace_integer *into;
    } integers[] = {{"rank", &survey->rank},
                    {"pid", &survey->pid},
                    {"start_unix_ns", &survey->start_unix_ns},
                    {"start_monotonic_ns", &survey->start_monotonic_ns},
                    {"end_ns", &survey->end_ns},
                    {"exit_status", &survey->exit_status}};

    if (text_of(&key, row, 0, query->err))
        return -1;
    for (size_t i = 0; key && i < sizeof integers / sizeof *integers; i++)
        if (!strcmp(key, integers[i].key))
            take_integer(integers[i].into, row);
    if (key && !strcmp(key, "complete"))
        survey->is_complete = sqlite3_column_int64(row, 1) != 0;
    if (key && !strcmp(key, "simulated"))
        survey->is_simulated = sqlite3_column_int64(row, 1) != 0;
    if (key && !strcmp(key, "lost_events"))
        survey->lost_events = sqlite3_column_int64(row, 1);
    if (key && !strcmp(key, "command"))
        return take_text(&survey->command, row, query->err);
    if (key && !strcmp(key, "host"))
        return take_text(&survey->host, row, query->err);
    if (key && !strcmp(key, "allocation_sums")) {
        if (text_of(&sums, row, 1, query->err))
            return -1;
        snprintf(survey->sums.text, sizeof survey->sums.text, "%s", sums ? sums : "");
        survey->refused_count = last_number(survey->sums.text);
    }
    if (key && !strcmp(key, "peaks"))
        return take_text(&query->peaks, row, query->err);
    if (key && !strcmp(key, "dry_run_events"))
        return take_text(&survey->dry_run_events, row, query->err);
    return key && !strcmp(key, "run_id") ? take_text(&survey->run_id, row, query->err) : 0;
}

static int take_card(struct survey_query *query, sqlite3_stmt *row)
{
    struct survey *survey = query->survey;
    const char *uuid;
    if (ARRAY_GROW(survey->cards, survey->card_capacity, survey->card_count, query->err) ||
        text_of(&uuid, row, 1, query->err))
        return -1;
    struct survey_card *card = &survey->cards[survey->card_count++];
    *card = (struct survey_card){.device = sqlite3_column_int(row, 0),
                                 .total_bytes = (uint64_t)sqlite3_column_int64(row, 2)};
    snprintf(card->uuid, sizeof card->uuid, "%s", uuid ? uuid : "");
    return 0;
}

static int take_sums(struct survey_query *query, sqlite3_stmt *row)
{
    query->survey->refused_count = sqlite3_column_int64(row, 4);
    query->survey->sums = (struct survey_sums){.count = sqlite3_column_int64(row, 0),
                                               .largest_bytes = sqlite3_column_int64(row, 1),
                                               .bytes = sqlite3_column_double(row, 2),
                                               .results = sqlite3_column_double(row, 3)};
    return 0;
}

/* Takes the rank from a launcher's variable. The program may have set this variable only after the
 * recorder had looked for the rank at the beginning of the trace. */
static int take_rank(struct survey_query *query, sqlite3_stmt *row)
{
    const char *value;
    char *end;
    if (text_of(&value, row, 1, query->err))
        return -1;
    if (!value || !*value || query->survey->rank.known)
        return 0;
    const long long rank = strtoll(value, &end, 10);
    if (!*end && rank >= 0)
        query->survey->rank = (struct trace_integer){rank, true};
    return 0;
}

static int read_job_variables(struct survey_query *query)
{
    static const char select[] =
        "SELECT name, value FROM job_variable WHERE name IN ('RANK', 'OMPI_COMM_WORLD_RANK', "
        "'PMI_RANK', 'SLURM_PROCID') ORDER BY name = 'RANK' DESC, name = 'OMPI_COMM_WORLD_RANK' "
        "DESC, name";
    return query->survey->rank.known ? 0 : each_row(query, "job_variable", select, take_rank);
}

/* Reads the peaks that the recorder wrote. These peaks ignore events that were lost or not stored,
 * so they are read only if the trace is complete and lost no event. */
static int read_peaks(struct survey_query *query)
{
    struct survey *survey = query->survey;
    return query->peaks && survey->is_complete && !survey->lost_events
               ? recorded_peaks_read(&survey->peaks, query->peaks, query->db, survey->path,
                                     query->err)
               : 0;
}

static void close_file(struct survey *survey)
{
    sqlite3_close(survey->file.db);
    survey->file.db = NULL;
}

static int survey_read(struct survey *survey, struct err *err)
{
    struct survey_query query = {.survey = survey, .err = err};
    char sums[160];
    snprintf(sums, sizeof sums,
             "SELECT count(*), max(size_bytes), total(size_bytes), total(result), "
             "total(result <> 0) FROM event "
             "WHERE kind = %d",
             EVENT_ALLOC);
    if (load_open(&survey->file, survey->path, err))
        return -1;
    query.db = survey->file.db;
    const int status =
        each_row(&query, "meta", "SELECT key, value FROM meta", take_meta) ||
                read_job_variables(&query) ||
                each_row(&query, "device",
                         "SELECT device, uuid, total_bytes FROM device ORDER BY device",
                         take_card) ||
                read_peaks(&query) ||
                (!*survey->sums.text && each_row(&query, "event", sums, take_sums))
            ? -1
            : 0;
    free(query.peaks);
    if (!survey->keeps_file)
        close_file(survey);
    return status;
}

/* --- all traces --- */

struct surveying {
    struct survey *surveys;
    struct err *errs; /* by trace */
    int count;
    /* The order is relaxed, because each number is taken once and threads are joined before results
     * are read. */
    atomic_int next, failed;
};

static void *survey_some(void *argument)
{
    struct surveying *surveying = argument;
    for (;;) {
        const int i = atomic_fetch_add_explicit(&surveying->next, 1, memory_order_relaxed);
        if (i >= surveying->count)
            return NULL;
        if (survey_read(&surveying->surveys[i], &surveying->errs[i]))
            atomic_store_explicit(&surveying->failed, 1, memory_order_relaxed);
    }
}

static void survey_all(struct surveying *surveying)
{
    pthread_t threads[THREADS_MOST];
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int started = 0;
    while (sqlite3_threadsafe() && started < THREADS_MOST && started + 1 < cores &&
           started + 1 < surveying->count &&
           !pthread_create(&threads[started], NULL, survey_some, surveying))
        started++;
    survey_some(surveying);
    while (started > 0)
        pthread_join(threads[--started], NULL);
}

int surveys_take(struct survey *surveys, const char *const *paths, int count, int kept_count,
                 struct err *err)
{
    struct surveying surveying = {.surveys = surveys,
                                  .errs = array_new((size_t)count, sizeof *surveying.errs, err),
                                  .count = count};
    if (!surveying.errs)
        return -1;
    for (int i = 0; i < count; i++)
        surveys[i] = (struct survey){.path = paths[i], .keeps_file = i < kept_count};
    survey_all(&surveying);
    for (int i = count; surveying.failed && i-- > 0;)
        if (surveying.errs[i].code)
            *err = surveying.errs[i];
    if (surveying.failed)
        surveys_release(surveys, count);
    free(surveying.errs);
    return surveying.failed ? -1 : 0;
}

void surveys_release(struct survey *surveys, int count)
{
    for (int i = 0; i < count; i++) {
        free(surveys[i].command);
        free(surveys[i].host);
        free(surveys[i].run_id);
        free(surveys[i].dry_run_events);
        free(surveys[i].cards);
        recorded_peaks_release(&surveys[i].peaks);
        close_file(&surveys[i]);
        surveys[i] = (struct survey){0};
    }
}

/* --- two traces --- */

static bool is_same_text(const char *a, const char *b)
{
    return a && b && !strcmp(a, b);
}

bool surveys_are_alike(const struct survey *a, const struct survey *b)
{
    return a->rank.known && b->rank.known && a->rank.value != b->rank.value &&
           a->is_complete == b->is_complete && !a->lost_events && !b->lost_events &&
           a->card_count == b->card_count && is_same_text(a->command, b->command) &&
           !strcmp(a->sums.text, b->sums.text) && a->sums.count == b->sums.count &&
           a->sums.bytes == b->sums.bytes && a->sums.largest_bytes == b->sums.largest_bytes &&
           a->sums.results == b->sums.results;
}

/* True if no call was refused. The last of the recorder's sums counts the refused calls. */
bool survey_refused_none(const struct survey *survey)
{
    const char *last = strrchr(survey->sums.text, ' ');
    return last && !strcmp(last, " 0");
}

bool surveys_share_machine(const struct survey *a, const struct survey *b)
{
    if (a->is_simulated != b->is_simulated || !is_same_text(a->host, b->host) ||
        (a->is_simulated && !is_same_text(a->run_id, b->run_id)) || !a->start_unix_ns.known ||
        !b->start_unix_ns.known || !a->start_monotonic_ns.known || !b->start_monotonic_ns.known)
        return false;
    return clock_same_boot(clock_since_ns(a->start_unix_ns.value, a->start_monotonic_ns.value),
                           clock_since_ns(b->start_unix_ns.value, b->start_monotonic_ns.value));
}
