/* SPDX-License-Identifier: MIT */
/*
 * Opens a trace, loads it whole, frees it. It must not know what a column means: that is load_*.c.
 */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

#include "trace/fold.h"
#include "load.h"

int load_prepare(const struct trace *trace, sqlite3 *db, const char *select, sqlite3_stmt **stmt,
                 struct err *err)
{
    if (sqlite3_prepare_v2(db, select, -1, stmt, NULL) == SQLITE_OK)
        return 0;
    err_set(err, ERR_INPUT, "%s: not a usable trace: %s", trace->path, sqlite3_errmsg(db));
    return -1;
}

int load_failed(const struct trace *trace, sqlite3 *db, const char *table, struct err *err)
{
    int code = sqlite3_errcode(db);

    err_set(err, code == SQLITE_NOMEM ? ERR_SYSTEM : ERR_INPUT, "%s: cannot read table %s: %s",
            trace->path, table, sqlite3_errmsg(db));
    return -1;
}

int trace_open(struct trace *trace, const char *path, struct err *err)
{
    struct trace loaded = {0};
    struct fold_result folded = {0};
    sqlite3 *db = NULL;
    int status = -1;

    loaded.path = strdup(path);
    if (!loaded.path) {
        err_set(err, ERR_SYSTEM, "not enough memory to open %s", path);
        goto out;
    }
    if (fold_open(path, &db, &folded, err))
        goto out;
    loaded.recording = folded.recording;
    if (load_tables(&loaded, db, err) || load_events(&loaded, db, err))
        goto out;
    *trace = loaded;
    status = 0;
out:
    sqlite3_close(db);
    if (status)
        trace_release(&loaded);
    return status;
}

static void release_texts(char **texts, size_t limit)
{
    for (size_t i = 0; i < limit; i++)
        free(texts[i]);
    free(texts);
}

static void release_meta(struct trace_meta *meta)
{
#define release_text(field) free(field.value)
#define release_integer(field) ((void)(field))
#define META(key, type, text) release_##type(meta->key);
#include "gpumemtrace/schema/meta_keys.def"
#undef release_text
#undef release_integer
}

void trace_release(struct trace *trace)
{
    for (size_t i = 0; i < trace->thread_count; i++)
        free(trace->threads[i].name);
    for (size_t i = 0; i < trace->device_count; i++) {
        free(trace->devices[i].uuid);
        free(trace->devices[i].name);
    }
    for (size_t i = 0; i < trace->module_count; i++) {
        free(trace->modules[i].path);
        free(trace->modules[i].build_id);
    }
    for (size_t i = 0; i < trace->coverage_count; i++)
        free(trace->coverage[i].name);
    release_texts(trace->strings, trace->string_limit);
    release_texts(trace->hooks, trace->hook_limit);
    release_meta(&trace->meta);
    free(trace->threads);
    free(trace->devices);
    free(trace->modules);
    free(trace->symbols);
    free(trace->coverage);
    free(trace->frames);
    free(trace->locations);
    free(trace->events);
    free(trace->path);
    *trace = (struct trace){0};
}

static const char *text_of(char *const *texts, size_t limit, uint64_t id)
{
    return id < limit && texts[id] ? texts[id] : "";
}

const char *trace_string(const struct trace *trace, uint64_t string_id)
{
    return text_of(trace->strings, trace->string_limit, string_id);
}

const char *trace_hook(const struct trace *trace, unsigned hook_id)
{
    return text_of(trace->hooks, trace->hook_limit, hook_id);
}

const struct trace_symbol *trace_symbols(const struct trace *trace, uint64_t address, size_t *count)
{
    size_t low = 0, high = trace->symbol_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (trace->symbols[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    *count = 0;
    while (low + *count < trace->symbol_count && trace->symbols[low + *count].address == address)
        ++*count;
    return *count ? &trace->symbols[low] : NULL;
}
