/* SPDX-License-Identifier: MIT */
/* Reads all tables but event; see load_tables.h. */
#include "load_tables.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/torch/frames.h"
#include "analyzer/util/array.h"
#include "analyzer/util/utf8.h"
#include "gpumemtrace/limits.h"
#include "module_ranges.h"
#include "query.h"

/* The position of a column is the offset of a one-byte member: columns_frame.parent_id is 1. */
#define TABLE(name, text) struct columns_##name {
#define COLUMN(name, sql, text) char name;
#define END_TABLE(name)                                                                            \
    }                                                                                              \
    ;
#include "gpumemtrace/schema/tables.def"
#define AT(table, column) ((int)offsetof(struct columns_##table, column))

/* The recorder numbers without gaps, so one huge id means a broken file. */
enum { ID_FACTOR = 16 };

struct reader {
    struct trace *trace;
    const char *table;
    sqlite3_stmt *stmt;
    uint64_t row_count; /* rows read so far, including the current row */
    size_t capacity;    /* of the array that the rows are appended to */
    bool is_again;      /* rows are read again; ids that exist keep their data */
    struct err *err;
};

static int broken_row(struct reader *reader, const char *what)
{
    return err_set(reader->err, ERR_INPUT, "%s: table %s, row %llu: %s", reader->trace->path,
                   reader->table, (unsigned long long)reader->row_count, what);
}

static int read_integer(struct reader *reader, int column, int64_t low, int64_t high,
                        int64_t *value)
{
    if (sqlite3_column_type(reader->stmt, column) != SQLITE_INTEGER)
        return broken_row(reader, "a number is missing");
    *value = sqlite3_column_int64(reader->stmt, column);
    if (*value < low || *value > high)
        return broken_row(reader, "a number is out of range");
    return 0;
}

/* Does the same as read_integer, but for NULL in the file sets *size_bytes to 0 and *known to
 * false. */
static int read_size(struct reader *reader, int column, uint64_t *size_bytes, bool *known)
{
    int64_t value = 0;
    *known = sqlite3_column_type(reader->stmt, column) != SQLITE_NULL;
    if (*known && read_integer(reader, column, 0, INT64_MAX, &value))
        return -1;
    *size_bytes = (uint64_t)value;
    return 0;
}

static int out_of_memory(struct reader *reader)
{
    return err_set(reader->err, ERR_SYSTEM, "out of memory for %s", reader->trace->path);
}

/*
 * *value belongs to SQLite until the next row. NULL in the file stays NULL. SQLite also returns
 * NULL when memory is exhausted; that is an error here.
 */
static int look_at_text(struct reader *reader, int column, const char **value)
{
    const bool known = sqlite3_column_type(reader->stmt, column) != SQLITE_NULL;
    *value = (const char *)sqlite3_column_text(reader->stmt, column);
    return known && !*value ? out_of_memory(reader) : 0;
}

/* Does the same as look_at_text, but the caller owns *text. */
static int read_text(struct reader *reader, int column, char **text)
{
    const char *value;
    *text = NULL;
    if (look_at_text(reader, column, &value))
        return -1;
    if (!value)
        return 0;
    const size_t length = utf8_cut_length(value, LIMIT_text_bytes);
    *text = strndup(value, length);
    reader->trace->cut_texts_count += value[length] != '\0';
    return *text ? 0 : out_of_memory(reader);
}

static int read_required_text(struct reader *reader, int column, char **text)
{
    if (read_text(reader, column, text))
        return -1;
    return *text ? 0 : broken_row(reader, "a text is missing");
}

static int read_id(struct reader *reader, int column, int64_t high, uint32_t *id)
{
    int64_t value;
    if (read_integer(reader, column, 0, high, &value))
        return -1;
    *id = (uint32_t)value;
    return 0;
}

/* Makes room for the item with this id in an array indexed by id; new items are cleared. */
static void *reach_id(struct reader *reader, void *items, size_t *limit, uint32_t id,
                      size_t item_bytes)
{
    size_t capacity = *limit;
    if (id < *limit)
        return items;
    if (id > reader->row_count * ID_FACTOR + LIMIT_id_slack) {
        broken_row(reader, "an id is far beyond the number of rows");
        return NULL;
    }
    if (array_grow(&items, &capacity, id, item_bytes, reader->err))
        return NULL;
    memset((char *)items + *limit * item_bytes, 0, (capacity - *limit) * item_bytes);
    *limit = capacity;
    return items;
}

/* --- one function per table: reads the current row --- */

static int meta_integer(struct reader *reader, struct trace_integer *value)
{
    if (sqlite3_column_type(reader->stmt, AT(meta, value)) == SQLITE_NULL)
        return 0;
    value->known = true;
    return read_integer(reader, AT(meta, value), INT64_MIN, INT64_MAX, &value->value);
}

static int meta_text(struct reader *reader, struct trace_text *value)
{
    free(value->value);
    return read_text(reader, AT(meta, value), &value->value);
}

static int row_meta(struct trace *trace, struct reader *reader)
{
    const char *key;
    if (look_at_text(reader, AT(meta, key), &key))
        return -1;
    if (!key)
        return broken_row(reader, "the key is missing");
#define META(name, type, text)                                                                     \
    if (!strcmp(key, #name))                                                                       \
        return meta_##type(reader, &trace->meta.name);
#include "gpumemtrace/schema/meta_keys.def"
    return 0; /* ignores a newer recorder's key */
}

/* Reads a text with an id. In a damaged file an id may come twice; then the last text counts. */
static int read_named(struct reader *reader, int id_column, int64_t high, int text_column,
                      char ***texts, size_t *limit)
{
    uint32_t id;
    if (read_id(reader, id_column, high, &id))
        return -1;
    char **grown = reach_id(reader, *texts, limit, id, sizeof *grown);
    if (!grown)
        return -1;
    *texts = grown;
    if (reader->is_again && grown[id])
        return 0;
    free(grown[id]);
    return read_text(reader, text_column, &grown[id]);
}

static int row_hook(struct trace *trace, struct reader *reader)
{
    return read_named(reader, AT(hook, hook_id), UINT16_MAX, AT(hook, name), &trace->hooks,
                      &trace->hook_limit);
}

static int row_string(struct trace *trace, struct reader *reader)
{
    return read_named(reader, AT(string, string_id), UINT32_MAX, AT(string, text), &trace->strings,
                      &trace->string_limit);
}

static int row_thread(struct trace *trace, struct reader *reader)
{
    if (ARRAY_GROW(trace->threads, reader->capacity, trace->thread_count, reader->err))
        return -1;
    struct trace_thread *thread = &trace->threads[trace->thread_count];
    if (read_id(reader, AT(thread, thread_id), UINT32_MAX, &thread->thread_id) ||
        read_integer(reader, AT(thread, tid), 0, INT64_MAX, &thread->tid) ||
        read_required_text(reader, AT(thread, name), &thread->name))
        return -1;
    trace->thread_count++;
    return 0;
}

static int row_device(struct trace *trace, struct reader *reader)
{
    int64_t number;
    bool known;
    if (ARRAY_GROW(trace->devices, reader->capacity, trace->device_count, reader->err))
        return -1;
    struct trace_device *device = &trace->devices[trace->device_count];
    if (read_integer(reader, AT(device, device), 0, LIMIT_devices - 1, &number) ||
        read_size(reader, AT(device, total_bytes), &device->total_bytes, &known) ||
        read_size(reader, AT(device, context_bytes), &device->context_bytes,
                  &device->context_known) ||
        read_text(reader, AT(device, uuid), &device->uuid))
        return -1;
    device->device = (int)number;
    device->name = NULL;
    trace->device_count++; /* from here on trace_release frees the uuid */
    return read_text(reader, AT(device, name), &device->name);
}

static int row_module(struct trace *trace, struct reader *reader)
{
    int64_t load, start, end;
    if (ARRAY_GROW(trace->modules, reader->capacity, trace->module_count, reader->err))
        return -1;
    struct trace_module *module = &trace->modules[trace->module_count];
    if (read_id(reader, AT(module, module_id), UINT32_MAX, &module->module_id) ||
        read_integer(reader, AT(module, load_address), INT64_MIN, INT64_MAX, &load) ||
        read_integer(reader, AT(module, start_address), INT64_MIN, INT64_MAX, &start) ||
        read_integer(reader, AT(module, end_address), INT64_MIN, INT64_MAX, &end) ||
        read_required_text(reader, AT(module, path), &module->path))
        return -1;
    module->load_address = (uint64_t)load;
    module->start_address = (uint64_t)start;
    module->end_address = (uint64_t)end;
    module->build_id = NULL;
    trace->module_count++;
    return read_text(reader, AT(module, build_id), &module->build_id);
}

/* Parents may form a loop in a broken file, so every walk of a stack must be bounded. */
static int row_frame(struct trace *trace, struct reader *reader)
{
    struct trace_frame *grown, frame = {.present = true};
    int64_t kind, address;
    uint32_t id;
    if (read_id(reader, AT(frame, frame_id), UINT32_MAX, &id) ||
        read_integer(reader, AT(frame, kind), FRAME_NATIVE, FRAME_LABEL, &kind) ||
        read_integer(reader, AT(frame, address), INT64_MIN, INT64_MAX, &address))
        return -1;
    if (sqlite3_column_type(reader->stmt, AT(frame, parent_id)) != SQLITE_NULL &&
        read_id(reader, AT(frame, parent_id), UINT32_MAX, &frame.parent_id))
        return -1;
    grown = reach_id(reader, trace->frames, &trace->frame_limit, id, sizeof *grown);
    if (!grown)
        return -1;
    trace->frames = grown;
    frame.kind = (uint8_t)kind;
    frame.address = (uint64_t)address;
    grown[id] = frame;
    return 0;
}

static int row_location(struct trace *trace, struct reader *reader)
{
    struct trace_location location;
    uint32_t id;
    if (read_id(reader, AT(location, location_id), UINT32_MAX, &id) ||
        read_id(reader, AT(location, function_id), UINT32_MAX, &location.function_id) ||
        read_id(reader, AT(location, file_id), UINT32_MAX, &location.file_id) ||
        read_id(reader, AT(location, line), UINT32_MAX, &location.line))
        return -1;
    struct trace_location *grown =
        reach_id(reader, trace->locations, &trace->location_limit, id, sizeof *grown);
    if (!grown)
        return -1;
    trace->locations = grown;
    location.means = torch_python_means(trace_string(trace, location.file_id),
                                        trace_string(trace, location.function_id));
    grown[id] = location;
    return 0;
}

static int row_symbol(struct trace *trace, struct reader *reader)
{
    struct trace_symbol symbol;
    int64_t address;
    if (read_integer(reader, AT(symbol, address), INT64_MIN, INT64_MAX, &address) ||
        read_id(reader, AT(symbol, level), UINT32_MAX, &symbol.level) ||
        read_id(reader, AT(symbol, function_id), UINT32_MAX, &symbol.function_id) ||
        read_id(reader, AT(symbol, file_id), UINT32_MAX, &symbol.file_id) ||
        read_id(reader, AT(symbol, line), UINT32_MAX, &symbol.line))
        return -1;
    if (ARRAY_GROW(trace->symbols, reader->capacity, trace->symbol_count, reader->err))
        return -1;
    symbol.address = (uint64_t)address;
    trace->symbols[trace->symbol_count++] = symbol;
    return 0;
}

/*
 * Cuts off the suffix that marks a call which a dry run does not model. Returns false if the name
 * has no such suffix.
 */
static bool cut_not_modelled(char *name)
{
    const size_t length = strlen(name), ending = strlen(COVERAGE_NOT_MODELLED);
    if (length < ending || strcmp(name + length - ending, COVERAGE_NOT_MODELLED) != 0)
        return false;
    name[length - ending] = '\0';
    return true;
}

static int row_coverage(struct trace *trace, struct reader *reader)
{
    bool known;
    const size_t count = trace->coverage_count + trace->not_modelled_count;
    if (ARRAY_GROW(trace->coverage, reader->capacity, count, reader->err))
        return -1;
    struct trace_coverage *coverage = &trace->coverage[count];
    if (read_size(reader, AT(coverage, count), &coverage->count, &known) ||
        read_required_text(reader, AT(coverage, name), &coverage->name))
        return -1;
    if (cut_not_modelled(coverage->name)) {
        trace->not_modelled_count++;
        return 0;
    }
    const struct trace_coverage last = *coverage;
    *coverage = trace->coverage[trace->coverage_count];
    trace->coverage[trace->coverage_count++] = last;
    return 0;
}

static int row_read_back(struct trace *trace, struct reader *reader)
{
    bool known;
    if (ARRAY_GROW(trace->read_backs, reader->capacity, trace->read_back_count, reader->err))
        return -1;
    struct trace_coverage *line = &trace->read_backs[trace->read_back_count];
    if (read_size(reader, AT(read_back, count), &line->count, &known) ||
        read_required_text(reader, AT(read_back, name), &line->name))
        return -1;
    trace->read_back_count++;
    return 0;
}

static int add_variable(struct trace_variables *variables, struct reader *reader)
{
    if (ARRAY_GROW(variables->items, reader->capacity, variables->count, reader->err))
        return -1;
    struct trace_variable *variable = &variables->items[variables->count];
    *variable = (struct trace_variable){NULL, NULL};
    variables->count++;
    return read_required_text(reader, 0, &variable->name) ||
                   read_required_text(reader, 1, &variable->value)
               ? -1
               : 0;
}

static int row_job_variable(struct trace *trace, struct reader *reader)
{
    return add_variable(&trace->job_variables, reader);
}

static int row_allocator_setting(struct trace *trace, struct reader *reader)
{
    return add_variable(&trace->allocator_settings, reader);
}

static int row_framework(struct trace *trace, struct reader *reader)
{
    return add_variable(&trace->frameworks, reader);
}

/* These tables are for people with an SQLite shell; the texts are compiled in (event.h). */
#define row_event_kind NULL
#define row_memory_kind NULL

/* durations.c reads this table when it is needed. */
#define row_call_duration NULL

/* load_holders.c reads these tables. */
#define row_walk NULL
#define row_holder NULL

/* --- all tables --- */

static const struct table {
    const char *name, *select;
    int (*row)(struct trace *trace, struct reader *reader); /* NULL: not read */
} tables[] = {
#define TABLE(name, text)                                                                          \
    {                                                                                              \
#name, "SELECT "
#define COLUMN(name, sql, text) #name ","
#define END_TABLE(name)                                                                            \
    "1 FROM " #name " ORDER BY 1", row_##name                                                      \
    }                                                                                              \
    ,
#include "gpumemtrace/schema/tables.def"
};

/* Only traces of 0.1.0 have this table; later ones have its last and highest values in meta. */
static const struct table host_memory = {
    "host_memory",
    "WITH last AS (SELECT * FROM host_memory ORDER BY sample DESC LIMIT 1)"
    "SELECT 'rss_bytes',rss_bytes FROM last UNION ALL "
    "SELECT 'rss_peak_bytes',rss_peak_bytes FROM last UNION ALL "
    "SELECT 'cgroup_bytes',cgroup_bytes FROM last UNION ALL "
    "SELECT 'cgroup_limit_bytes',cgroup_limit_bytes FROM last UNION ALL "
    "SELECT 'cgroup_peak_bytes',ifnull(cgroup_peak_bytes,"
    "(SELECT max(cgroup_bytes) FROM host_memory)) FROM last",
    row_meta};

static bool has_host_memory(sqlite3 *db)
{
    return sqlite3_table_column_metadata(db, NULL, host_memory.name, NULL, NULL, NULL, NULL, NULL,
                                         NULL) != SQLITE_ERROR;
}

static int load_table(struct trace *trace, sqlite3 *db, const struct table *table, bool is_again,
                      struct err *err)
{
    struct reader reader = {.trace = trace, .table = table->name, .is_again = is_again, .err = err};
    int status = -1, step;
    if (!table->row)
        return 0;
    if (query_prepare(trace->path, db, table->select, &reader.stmt, err))
        return -1;
    while ((step = sqlite3_step(reader.stmt)) == SQLITE_ROW) {
        if (reader.row_count++ == LIMIT_rows) {
            broken_row(&reader, "the table has more rows than a trace may hold");
            goto out;
        }
        if (table->row(trace, &reader))
            goto out;
    }
    status = step == SQLITE_DONE ? 0 : query_failed(trace->path, db, table->name, err);
out:
    sqlite3_finalize(reader.stmt);
    return status;
}

ORDER_BY(compare_modules, struct trace_module, RISING(start_address));

ORDER_BY(compare_symbols, struct trace_symbol, RISING(address), RISING(level));

static int place_modules(struct trace *trace, struct err *err)
{
    SORT(trace->modules, trace->module_count, compare_modules);
    return module_ranges_build(trace, err);
}

int load_tables(struct trace *trace, sqlite3 *db, struct err *err)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (load_table(trace, db, &tables[i], false, err))
            return -1;
    if (has_host_memory(db) && load_table(trace, db, &host_memory, false, err))
        return -1;
    SORT(trace->symbols, trace->symbol_count, compare_symbols);
    return place_modules(trace, err);
}

/* --- tables that grow --- */

static int count_rows(const struct trace *trace, sqlite3 *db, const char *table, uint64_t *rows,
                      struct err *err)
{
    char select[64];
    sqlite3_stmt *stmt;
    snprintf(select, sizeof select, "SELECT count(*) FROM %s", table);
    if (query_prepare(trace->path, db, select, &stmt, err))
        return -1;
    const bool is_counted = sqlite3_step(stmt) == SQLITE_ROW;
    if (is_counted)
        *rows = (uint64_t)sqlite3_column_int64(stmt, 0);
    else
        query_failed(trace->path, db, table, err);
    sqlite3_finalize(stmt);
    return is_counted ? 0 : -1;
}

static int load_again(struct trace *trace, sqlite3 *db, const char *name, struct err *err)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (!strcmp(tables[i].name, name))
            return load_table(trace, db, &tables[i], true, err);
    return 0;
}

int load_tables_more(struct trace *trace, sqlite3 *db, struct table_growth *growth, struct err *err)
{
    static const char *const names[GROWING_TABLES] = {[GROWING_string] = "string",
                                                      [GROWING_frame] = "frame",
                                                      [GROWING_location] = "location",
                                                      [GROWING_thread] = "thread",
                                                      [GROWING_module] = "module"};
    trace_forget_devices(trace);
    trace->meta.exit_seq.known = false; /* an exit may be undone */
    if (load_again(trace, db, "meta", err) || load_again(trace, db, "device", err))
        return -1;
    for (int i = 0; i < GROWING_TABLES; i++) {
        uint64_t rows;
        if (count_rows(trace, db, names[i], &rows, err))
            return -1;
        growth->has_grown[i] = rows != growth->rows[i];
        growth->rows[i] = rows;
        if (growth->has_grown[i] && i == GROWING_thread)
            trace_forget_threads(trace);
        if (growth->has_grown[i] && i == GROWING_module)
            trace_forget_modules(trace);
        if (growth->has_grown[i] && load_again(trace, db, names[i], err))
            return -1;
    }
    return growth->has_grown[GROWING_module] ? place_modules(trace, err) : 0;
}
