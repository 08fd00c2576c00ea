/* SPDX-License-Identifier: MIT */
/*
 * See lines.h. CPython describes the format of each version in Objects/lnotab_notes.txt, and in
 * later versions in Objects/locations.md.
 */
#include "lines.h"

#include <stdbool.h>

#define NO_LINE 0

/* 3.8, 3.9:  | bytes of code, u8 | lines after them, s8 | … */
static int line_of_pairs(const uint8_t *table, size_t table_bytes, int line, int64_t offset)
{
    int64_t at = 0;
    for (size_t i = 0; i + 2 <= table_bytes; i += 2) {
        at += table[i];
        if (at > offset)
            break;
        line += (int8_t)table[i + 1];
    }
    return line;
}

/* 3.10:  | bytes of code, u8 | lines before them, s8 | …        -128: these bytes have no line */
static int line_of_ranges(const uint8_t *table, size_t table_bytes, int line, int64_t offset)
{
    int64_t end = 0;
    for (size_t i = 0; i + 2 <= table_bytes; i += 2) {
        const int delta = (int8_t)table[i + 1];
        end += table[i];
        if (delta != INT8_MIN)
            line += delta;
        if (end > offset)
            return delta == INT8_MIN ? NO_LINE : line;
    }
    return NO_LINE;
}

/* Reads a signed number. Each byte has six bits of the number, the low bits first; bit 6 of a byte
 * means that more bytes follow. Bit 0 of the number is its sign. */
static int signed_number(const uint8_t *at, const uint8_t *end)
{
    uint64_t number = 0;
    for (unsigned shift = 0; at < end && shift < 60; shift += 6) {
        number |= (uint64_t)(*at & 0x3f) << shift;
        if (!(*at++ & 0x40))
            break;
    }
    return number & 1 ? -(int)(number >> 1) : (int)(number >> 1);
}

enum { ENTRY_LONG = 14, ENTRY_NO_COLUMNS = 13, ENTRY_ONE_LINE = 10, ENTRY_NO_LINE = 15 };

/* 3.11:  | 1, code (4 bits), units of code - 1 (3 bits) | 0 and seven bits more | … */
static int line_of_entries(const uint8_t *table, size_t table_bytes, int line, int64_t offset)
{
    const uint8_t *at = table, *end = table + table_bytes;
    int64_t covered = 0;
    while (at < end) {
        const unsigned code = *at >> 3 & 15;
        covered += 2 * ((*at & 7) + 1);
        at++;
        if (code == ENTRY_LONG || code == ENTRY_NO_COLUMNS)
            line += signed_number(at, end);
        else if (code >= ENTRY_ONE_LINE && code < ENTRY_NO_COLUMNS)
            line += (int)code - ENTRY_ONE_LINE;
        if (covered > offset)
            return code == ENTRY_NO_LINE ? NO_LINE : line;
        while (at < end && !(*at & 0x80))
            at++;
    }
    return NO_LINE;
}

int python_line(enum python_lines format, const uint8_t *table, size_t table_bytes, int first_line,
                int64_t offset)
{
    if (offset < 0)
        return first_line;
    switch (format) {
    case PYTHON_PAIRS:
        return line_of_pairs(table, table_bytes, first_line, offset);
    case PYTHON_RANGES:
        return line_of_ranges(table, table_bytes, first_line, offset);
    case PYTHON_ENTRIES:
        break;
    }
    return line_of_entries(table, table_bytes, first_line, offset);
}
