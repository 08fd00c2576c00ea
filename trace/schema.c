/* SPDX-License-Identifier: MIT */
/*
 * See schema.h.
 */
#include "schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gpumemtrace/event.h"
#include "gpumemtrace/version.h"

const struct schema_row schema_rows[] = {
    {.table = "event", .text = "everything that happened, one row each"},
#define COLUMN(field, ctype, sql_text, null_when, meaning)                                         \
    {.column = #field, .sql = sql_text, .text = meaning},
#include "gpumemtrace/schema/event_columns.def"
#define TABLE(name, meaning) {.table = #name, .text = meaning},
#define COLUMN(name, sql_text, meaning) {.column = #name, .sql = sql_text, .text = meaning},
#define END_TABLE(name)
#include "gpumemtrace/schema/tables.def"
};
const size_t schema_row_count = sizeof schema_rows / sizeof *schema_rows;

/* trace/views.sql, embedded by views.S. */
extern const char schema_views_sql[];

struct script {
    char *text;
    size_t room_bytes, used_bytes;
};

static void append(struct script *script, const char *format, ...) GMT_PRINTF(2, 3);

static void append(struct script *script, const char *format, ...)
{
    va_list arguments;
    if (script->used_bytes >= script->room_bytes)
        return;
    va_start(arguments, format);
    const int length = vsnprintf(script->text + script->used_bytes,
                                 script->room_bytes - script->used_bytes, format, arguments);
    va_end(arguments);
    script->used_bytes += length < 0 ? script->room_bytes : (size_t)length;
}

static void append_tables(struct script *script)
{
    const char *separator = "";
    for (size_t i = 0; i < schema_row_count; i++) {
        const struct schema_row *row = &schema_rows[i];
        if (row->table) {
            append(script, "%sCREATE TABLE %s(", i ? ");" : "", row->table);
            separator = "";
            continue;
        }
        append(script, "%s%s %s", separator, row->column, row->sql);
        separator = ",";
    }
    append(script, ");");
}

static void append_names(struct script *script)
{
#define EVENT_KIND(name, text, meaning)                                                            \
    append(script, "INSERT INTO event_kind VALUES(%d,'%s');", (int)EVENT_##name, text);
#include "gpumemtrace/schema/event_kinds.def"
#define MEMORY(name, layer, account, text)                                                         \
    append(script, "INSERT INTO memory_kind VALUES(%d,'%s','%s','%s');", (int)MEMORY_##name, text, \
           #layer, #account);
#include "gpumemtrace/schema/memory.def"
}

int schema_sql(char *buffer, size_t buffer_bytes, struct err *err)
{
    struct script script = {.text = buffer, .room_bytes = buffer_bytes};
    append(&script, "PRAGMA application_id=%d;PRAGMA user_version=%d;", GMT_TRACE_APPLICATION_ID,
           GMT_TRACE_FORMAT);
    append_tables(&script);
    append_names(&script);
    append(&script, "%s", schema_views_sql);
    if (script.used_bytes >= buffer_bytes)
        return err_set(err, ERR_INTERNAL, "the schema needs more than %zu bytes", buffer_bytes);
    return 0;
}
