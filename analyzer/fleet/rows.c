/* SPDX-License-Identifier: MIT */
/* See rows.h. */
#include "rows.h"

#include <string.h>

enum { BODY_MOST_BYTES = 1 << 30 };

static int first_column(enum fleet_table table)
{
    int column = 0;
    while (fleet_columns[column].table != (int)table)
        column++;
    return column;
}

void rows_init(struct rows *rows, enum fleet_table table, const struct fleet_key *key)
{
    *rows = (struct rows){.table = table, .first = first_column(table), .key = key};
    text_init(&rows->body, BODY_MOST_BYTES);
}

void rows_init_columns(struct rows *rows, enum fleet_table table)
{
    rows_init(rows, table, NULL);
    rows->is_out_of_memory = columns_init(&rows->columns, rows->first) != 0;
}

void rows_release(struct rows *rows)
{
    text_release(&rows->body);
    columns_release(&rows->columns);
}

void rows_clear(struct rows *rows)
{
    text_clear(&rows->body);
    columns_clear(&rows->columns);
    rows->bytes = 0;
    rows->count = 0;
}

const char *rows_format(const struct rows *rows)
{
    return rows->columns.items ? "Native" : "TabSeparated";
}

/* Returns false if the value must not be written. */
static bool begin_value(struct rows *rows, enum fleet_column column)
{
    if ((int)column != rows->next) {
        rows->is_out_of_order = true;
        return false;
    }
    rows->next++;
    return !rows->is_out_of_memory;
}

static bool is_signed(enum fleet_type type)
{
    return type == FLEET_INT32 || type == FLEET_INT64 || type == FLEET_MAYBE_INT64;
}

/* Adds a number and a tab. */
static void put_number(struct text *body, bool is_negative, uint64_t value)
{
    char text[24], *at = text + sizeof text;
    *--at = '\t';
    for (value = is_negative ? -value : value; value >= 10; value /= 10)
        *--at = (char)('0' + value % 10);
    *--at = (char)('0' + value);
    if (is_negative)
        *--at = '-';
    text_add_bytes(body, at, (size_t)(text + sizeof text - at));
}

void rows_value(struct rows *rows, enum fleet_column column, bool known, uint64_t value)
{
    if (!begin_value(rows, column))
        return;
    if (rows->columns.items)
        rows->bytes += columns_add(&rows->columns, column, known, value);
    else if (known)
        put_number(&rows->body, is_signed(fleet_columns[column].type) && (int64_t)value < 0, value);
    else
        text_add(&rows->body, "\\N\t");
}

static const char *escape_of(char c)
{
    switch (c) {
    case '\t':
        return "\\t";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    default:
        return "\\\\";
    }
}

static void put_text(struct text *body, const char *value)
{
    for (;;) {
        const size_t plain = strcspn(value, "\t\n\r\\");

        text_add_bytes(body, value, plain);
        value += plain;
        if (!*value)
            break;
        text_add_bytes(body, escape_of(*value++), 2);
    }
    text_add_bytes(body, "\t", 1);
}

void rows_text(struct rows *rows, enum fleet_column column, const char *value)
{
    if (!begin_value(rows, column))
        return;
    if (rows->columns.items)
        rows->bytes += columns_add_text(&rows->columns, column, value ? value : "");
    else
        put_text(&rows->body, value ? value : "");
}

void rows_begin(struct rows *rows)
{
    rows->next = 0;
    if (rows->columns.items && columns_begin(&rows->columns))
        rows->is_out_of_memory = true;
    if (rows->key) {
        rows_text(rows, FLEET_KEY_day, rows->key->day);
        rows_text(rows, FLEET_KEY_job, rows->key->job);
        rows_text(rows, FLEET_KEY_run, rows->key->run);
        rows_integer(rows, FLEET_KEY_rank, rows->key->rank);
        rows_number(rows, FLEET_KEY_push, rows->key->push);
    }
    rows->next = rows->first;
}

/* A row of text ends with a line feed in place of the last tab. */
void rows_end(struct rows *rows)
{
    if (rows->next < FLEET_COLUMNS && fleet_columns[rows->next].table == (int)rows->table)
        rows->is_out_of_order = true;
    rows->is_out_of_memory |= text_failed(&rows->body);
    if (rows->is_out_of_memory)
        return;
    if (rows->columns.items) {
        columns_end(&rows->columns);
    } else {
        rows->body.data[rows->body.length - 1] = '\n';
        rows->bytes = rows->body.length;
    }
    rows->count++;
}

int rows_check(const struct rows *rows, struct err *err)
{
    if (rows->is_out_of_memory)
        err_set(err, ERR_SYSTEM, "out of memory for rows of the table %s",
                fleet_tables[rows->table].name);
    else if (rows->is_out_of_order)
        err_set(err, ERR_INTERNAL, "a row of the table %s has other columns than tables.def",
                fleet_tables[rows->table].name);
    return rows->is_out_of_memory || rows->is_out_of_order ? -1 : 0;
}

int rows_finish(struct rows *rows, struct err *err)
{
    if (rows->columns.items && columns_write(&rows->columns, &rows->body))
        rows->is_out_of_memory = true;
    return rows_check(rows, err);
}
