/* SPDX-License-Identifier: MIT */
/*
 * Rows of a table as one block of ClickHouse's format Native: column after column, in binary, so
 * that the server parses no text.
 *
 *     block    count of columns, count of rows, column…
 *     column   name, type, value…; before the values of a MAYBE_… column, a byte per row: 1 is NULL
 *     text     count of bytes, bytes; each count is a LEB128 number
 *
 * Source: "Native format" in ClickHouse's documentation of its formats.
 */
#pragma once

#include <stdint.h>

#include "tables.h"

struct column_values {
    size_t width;  /* bytes of a value; 0: texts */
    char *numbers; /* width bytes per row */
    bool *unknown; /* of a MAYBE_… column: one per row */
    struct text texts;
};
struct columns {
    int first, count;      /* enum fleet_column of the table's first column, and how many it has */
    size_t rows, capacity; /* capacity: rows that numbers and unknown have room for */
    struct column_values *items;
};

/* `first` is the first column of the table. Returns -1 if no memory is left. */
int columns_init(struct columns *columns, int first);
void columns_release(struct columns *columns);
void columns_clear(struct columns *columns);

/* Begins a row, which needs a value in each column. Returns -1 if no memory is left. */
int columns_begin(struct columns *columns);
void columns_end(struct columns *columns);
/* Adds a value of any type but TEXT and DAY. Returns its bytes. */
size_t columns_add(struct columns *columns, enum fleet_column column, bool known, uint64_t value);
/* Adds a value of type TEXT. Returns its bytes. */
size_t columns_add_text(struct columns *columns, enum fleet_column column, const char *value);

/* Writes the block. Returns -1 if no memory was left for it or for a text. */
int columns_write(const struct columns *columns, struct text *block);
