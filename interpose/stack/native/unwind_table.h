/* SPDX-License-Identifier: MIT */
/*
 * The search table of an object (.eh_frame_hdr, sorted by address), by which unwinders find the
 * .eh_frame entry of an address in its code. The functions only read memory.
 *
 *     | 1 | encodings: of the pointer, count, table | pointer | count | table …
 *     table: | start of code - header | entry - header | …          int32 each, sorted
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct dl_phdr_info;

struct unwind_table {
    uintptr_t header;
    uint32_t count;
    const int32_t (*rows)[2];
};

/* Returns false if the object has no table, or if the encoding of the table is not the one that
 * linkers write. */
bool unwind_table_read(const struct dl_phdr_info *info, struct unwind_table *table);

/* Finds the last row whose code starts at or before the address. The code of that row may also end
 * before the address. Returns false if the address lies before all rows. */
bool unwind_table_find(const struct unwind_table *table, uintptr_t address, uint32_t *row);

static inline uintptr_t unwind_table_start(const struct unwind_table *table, uint32_t row)
{
    return table->header + (uintptr_t)(intptr_t)table->rows[row][0];
}

/* Returns the row's entry in .eh_frame. */
static inline const uint8_t *unwind_table_entry(const struct unwind_table *table, uint32_t row)
{
    return (const uint8_t *)(table->header + (uintptr_t)(intptr_t)table->rows[row][1]);
}
