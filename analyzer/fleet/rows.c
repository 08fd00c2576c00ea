/* SPDX-License-Identifier: MIT */
/* See rows.h. */
#include "rows.h"

#include <stdlib.h>
#include <string.h>

/* A row has room for a number in each column before its first value, and again after each text. */
enum { NUMBER_MOST_BYTES = 24, NUMBERS_MOST_BYTES = FLEET_COLUMNS * NUMBER_MOST_BYTES };

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
}

void rows_release(struct rows *rows)
{
    free(rows->data);
    *rows = (struct rows){0};
}

void rows_clear(struct rows *rows)
{
    rows->length = 0;
    rows->count = 0;
}

/* Makes room for a text of `bytes`, and for numbers after it. */
static bool make_room(struct rows *rows, size_t bytes)
{
    const size_t needed = rows->length + bytes + NUMBERS_MOST_BYTES;
    size_t capacity = rows->capacity ? rows->capacity : NUMBERS_MOST_BYTES;
    if (rows->capacity >= needed || rows->is_out_of_memory)
        return !rows->is_out_of_memory;
    while (capacity < needed)
        capacity *= 2;
    char *data = realloc(rows->data, capacity);
    rows->is_out_of_memory = !data;
    if (data) {
        rows->data = data;
        rows->capacity = capacity;
    }
    return data != NULL;
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

static void end_value(struct rows *rows)
{
    rows->data[rows->length++] = '\t';
}

static size_t count_digits(uint64_t value)
{
    size_t count = 1;
    for (; value >= 1000; value /= 1000)
        count += 3;
    return count + (value >= 10) + (value >= 100);
}

/* Writes two digits with each division, because divisions take most of the time. */
static void put_number(struct rows *rows, uint64_t value)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    char *begin = rows->data + rows->length, *at = begin + count_digits(value);
    rows->length += (size_t)(at - begin);
    for (; value >= 10; value /= 100)
        memcpy(at -= 2, &pairs[value % 100 * 2], 2);
    if (at > begin)
        *begin = (char)('0' + value);
}

void rows_number(struct rows *rows, enum fleet_column column, uint64_t value)
{
    if (!begin_value(rows, column))
        return;
    put_number(rows, value);
    end_value(rows);
}

void rows_integer(struct rows *rows, enum fleet_column column, int64_t value)
{
    if (!begin_value(rows, column))
        return;
    if (value < 0)
        rows->data[rows->length++] = '-';
    put_number(rows, value < 0 ? -(uint64_t)value : (uint64_t)value);
    end_value(rows);
}

static void put_unknown(struct rows *rows, enum fleet_column column)
{
    if (!begin_value(rows, column))
        return;
    memcpy(rows->data + rows->length, "\\N", 2);
    rows->length += 2;
    end_value(rows);
}

void rows_maybe(struct rows *rows, enum fleet_column column, bool known, int64_t value)
{
    if (known)
        rows_integer(rows, column, value);
    else
        put_unknown(rows, column);
}

void rows_maybe_number(struct rows *rows, enum fleet_column column, bool known, uint64_t value)
{
    if (known)
        rows_number(rows, column, value);
    else
        put_unknown(rows, column);
}

static char escape_of(char c)
{
    switch (c) {
    case '\t':
        return 't';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    default:
        return c;
    }
}

void rows_text(struct rows *rows, enum fleet_column column, const char *value)
{
    const char *rest = value ? value : "";
    if (!begin_value(rows, column) || !make_room(rows, 2 * strlen(rest)))
        return;
    for (;;) {
        const size_t plain = strcspn(rest, "\t\n\r\\");

        memcpy(rows->data + rows->length, rest, plain);
        rows->length += plain;
        rest += plain;
        if (!*rest)
            break;
        rows->data[rows->length++] = '\\';
        rows->data[rows->length++] = escape_of(*rest++);
    }
    end_value(rows);
}

void rows_begin(struct rows *rows)
{
    rows->next = 0;
    make_room(rows, 0);
    if (rows->key) {
        rows_text(rows, FLEET_KEY_day, rows->key->day);
        rows_text(rows, FLEET_KEY_job, rows->key->job);
        rows_text(rows, FLEET_KEY_run, rows->key->run);
        rows_integer(rows, FLEET_KEY_rank, rows->key->rank);
        rows_number(rows, FLEET_KEY_push, rows->key->push);
    }
    rows->next = rows->first;
}

void rows_end(struct rows *rows)
{
    if (rows->next < FLEET_COLUMNS && fleet_columns[rows->next].table == (int)rows->table)
        rows->is_out_of_order = true;
    if (rows->is_out_of_memory || !rows->length)
        return;
    rows->data[rows->length - 1] = '\n';
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
