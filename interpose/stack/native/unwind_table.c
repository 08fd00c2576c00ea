/* SPDX-License-Identifier: MIT */
/*
 * See unwind_table.h.
 */
#include "unwind_table.h"

#include <link.h>
#include <string.h>

bool unwind_table_read(const struct dl_phdr_info *info, struct unwind_table *table)
{
    static const uint8_t usual[] = {1, 0x1b, 0x03, 0x3b};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const uint8_t *header = (const uint8_t *)(info->dlpi_addr + part->p_vaddr);
        if (part->p_type != PT_GNU_EH_FRAME || memcmp(header, usual, sizeof usual) != 0)
            continue;
        table->header = (uintptr_t)header;
        memcpy(&table->count, header + 8, sizeof table->count);
        table->rows = (const int32_t(*)[2])(const void *)(header + 12);
        return table->count > 0;
    }
    return false;
}

bool unwind_table_find(const struct unwind_table *table, uintptr_t address, uint32_t *row)
{
    uint32_t low = 0, high = table->count;
    if (address < unwind_table_start(table, 0))
        return false;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (unwind_table_start(table, middle) <= address)
            low = middle;
        else
            high = middle;
    }
    *row = low;
    return true;
}
