/* SPDX-License-Identifier: MIT */
/* See columns.h. */
#include "columns.h"

#include <endian.h>
#include <stdlib.h>

/* A batch of events is far smaller. */
enum { MOST_BYTES = 1 << 30, FIRST_ROWS = 1 << 10 };

static size_t width_of(enum fleet_type type)
{
    switch (type) {
    case FLEET_TEXT:
        return 0;
    case FLEET_FLAG:
        return 1;
    case FLEET_INT32:
    case FLEET_UINT32:
        return 4;
    default:
        return 8;
    }
}

static bool may_be_unknown(enum fleet_type type)
{
    return type == FLEET_MAYBE_INT64 || type == FLEET_MAYBE_UINT64;
}

int columns_init(struct columns *columns, int first)
{
    int end = first;
    while (end < FLEET_COLUMNS && fleet_columns[end].table == fleet_columns[first].table)
        end++;
    struct column_values *items = calloc((size_t)(end - first), sizeof *items);
    *columns = (struct columns){.first = first, .count = items ? end - first : 0, .items = items};
    for (int i = 0; i < columns->count; i++) {
        items[i].width = width_of(fleet_columns[first + i].type);
        text_init(&items[i].texts, MOST_BYTES);
    }
    return items ? 0 : -1;
}

void columns_release(struct columns *columns)
{
    for (int i = 0; i < columns->count; i++) {
        free(columns->items[i].numbers);
        free(columns->items[i].unknown);
        text_release(&columns->items[i].texts);
    }
    free(columns->items);
    *columns = (struct columns){0};
}

void columns_clear(struct columns *columns)
{
    for (int i = 0; i < columns->count; i++)
        text_clear(&columns->items[i].texts);
    columns->rows = 0;
}

static int make_room(struct columns *columns)
{
    const size_t capacity = columns->capacity ? 2 * columns->capacity : FIRST_ROWS;
    for (int i = 0; i < columns->count; i++) {
        struct column_values *item = &columns->items[i];
        char *numbers = realloc(item->numbers, capacity * item->width + 1);
        bool *unknown = numbers ? realloc(item->unknown, capacity) : NULL;

        item->numbers = numbers ? numbers : item->numbers;
        if (!unknown)
            return -1;
        item->unknown = unknown;
    }
    columns->capacity = capacity;
    return 0;
}

int columns_begin(struct columns *columns)
{
    return columns->rows < columns->capacity ? 0 : make_room(columns);
}

void columns_end(struct columns *columns)
{
    columns->rows++;
}

size_t columns_add(struct columns *columns, enum fleet_column column, bool known, uint64_t value)
{
    struct column_values *item = &columns->items[(int)column - columns->first];
    const uint64_t bytes = htole64(value);
    char *at = item->numbers + columns->rows * item->width;
    /* A copy of a constant size is one instruction. */
    if (item->width == 8)
        memcpy(at, &bytes, 8);
    else if (item->width == 4)
        memcpy(at, &bytes, 4);
    else
        *at = (char)value;
    item->unknown[columns->rows] = !known;
    return item->width;
}

static size_t add_count(struct text *text, uint64_t count)
{
    char bytes[10];
    size_t length = 0;
    for (; count > 0x7f; count >>= 7)
        bytes[length++] = (char)(0x80 | count);
    bytes[length++] = (char)count;
    text_add_bytes(text, bytes, length);
    return length;
}

static size_t add_text(struct text *text, const char *value)
{
    const size_t length = strlen(value), head = add_count(text, length);
    text_add_bytes(text, value, length);
    return head + length;
}

size_t columns_add_text(struct columns *columns, enum fleet_column column, const char *value)
{
    return add_text(&columns->items[(int)column - columns->first].texts, value);
}

int columns_write(const struct columns *columns, struct text *block)
{
    bool failed = false;
    add_count(block, (uint64_t)columns->count);
    add_count(block, columns->rows);
    for (int i = 0; i < columns->count; i++) {
        const struct fleet_column_row *column = &fleet_columns[columns->first + i];
        const struct column_values *item = &columns->items[i];

        add_text(block, column->name);
        add_text(block, fleet_type_name(column->type));
        if (may_be_unknown(column->type))
            text_add_bytes(block, (const char *)item->unknown, columns->rows);
        if (item->width)
            text_add_bytes(block, item->numbers, columns->rows * item->width);
        text_add_bytes(block, item->texts.data, item->texts.length);
        failed |= text_failed(&item->texts);
    }
    return failed || text_failed(block) ? -1 : 0;
}
