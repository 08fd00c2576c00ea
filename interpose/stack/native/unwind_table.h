/* SPDX-License-Identifier: MIT */
/*
 * The search table of an object (.eh_frame_hdr, sorted by address), by which unwinders find the
 * .eh_frame entry of an address in its code. Reads memory only.
 *
 *     | 1 | encodings: of the pointer, count, table | pointer | count | table …
 *     table: | start of code - header | entry - header | …          int32 each, sorted
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_NATIVE_UNWIND_TABLE_H
#define GPUMEMTRACE_INTERPOSE_STACK_NATIVE_UNWIND_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct dl_phdr_info;

struct unwind_table {
    uintptr_t header;
    uint32_t count;
    const int32_t (*rows)[2];
};

/* false: the object has no table, or a table in another encoding than linkers write. */
bool unwind_table_read(const struct dl_phdr_info *info, struct unwind_table *table);

/* Finds the row whose code starts last at or before address. The row's code may end before address.
 * false: address lies before all rows. */
bool unwind_table_find(const struct unwind_table *table, uintptr_t address, uint32_t *row);

static inline uintptr_t unwind_table_start(const struct unwind_table *table, uint32_t row)
{
    return table->header + (uintptr_t)(intptr_t)table->rows[row][0];
}

/* The row's entry in .eh_frame. */
static inline const uint8_t *unwind_table_entry(const struct unwind_table *table, uint32_t row)
{
    return (const uint8_t *)(table->header + (uintptr_t)(intptr_t)table->rows[row][1]);
}

#endif
