/* SPDX-License-Identifier: MIT */
/*
 * Tests the lookup in the search table of .eh_frame: it must find the row that an address belongs
 * to.
 */
#include <link.h>
#include <stdbool.h>

#include "interpose/stack/native/unwind_table.h"
#include "tests/unit/unit_test.h"

/* A table of three functions, 100, 200 and 300 bytes behind the start of the table. */
static struct {
    uint8_t encodings[4];
    int32_t entries;
    uint32_t count;
    int32_t rows[3][2];
} made = {{1, 0x1b, 0x03, 0x3b}, 0, 3, {{100, 0}, {200, 0}, {300, 0}}};

static bool read_made(struct unwind_table *table)
{
    const ElfW(Phdr) part = {.p_type = PT_GNU_EH_FRAME, .p_vaddr = (uintptr_t)&made};
    const struct dl_phdr_info info = {.dlpi_phdr = &part, .dlpi_phnum = 1};
    return unwind_table_read(&info, table);
}

TEST(an_address_belongs_to_the_last_row_that_starts_before_it)
{
    static const struct {
        uintptr_t at;
        uint32_t row;
    } cases[] = {{100, 0}, {199, 0}, {200, 1}, {299, 1}, {300, 2}, {100000, 2}};
    struct unwind_table table;
    uint32_t row;
    assert_true(read_made(&table));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(unwind_table_find(&table, (uintptr_t)&made + cases[i].at, &row));
        assert_int_equal(row, cases[i].row);
    }
    assert_false(unwind_table_find(&table, (uintptr_t)&made + 99, &row));
}

TEST(a_table_in_another_encoding_is_none)
{
    struct unwind_table table;
    made.encodings[3] = 0x3c;
    assert_false(read_made(&table));
    made.encodings[3] = 0x3b;
    assert_true(read_made(&table));
}

UNIT_MAIN(NULL, NULL)
