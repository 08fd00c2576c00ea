/* SPDX-License-Identifier: MIT */
/*
 * Tests the line numbers of instructions. They are read from the tables that CPython 3.8, 3.10,
 * 3.11 and 3.12 made for one function. The function has lines that are far apart, instructions with
 * a lower line than the instruction before, and instructions without a line.
 */
#include "interpose/stack/python/lines.h"
#include "tests/unit/unit_test.h"

/* Instructions from `offset` on belong to `line`, until the next run. */
struct run {
    int offset, line;
};

#define FIRST_LINE 10
#define COUNT(array) (sizeof(array) / sizeof *(array))

static void check(enum python_lines format, const uint8_t *table, size_t table_bytes,
                  const struct run *runs, size_t run_count, int end)
{
    for (size_t i = 0; i < run_count; i++) {
        const int next = i + 1 < run_count ? runs[i + 1].offset : end;
        for (int offset = runs[i].offset; offset < next; offset += 2)
            assert_int_equal(python_line(format, table, table_bytes, FIRST_LINE, offset),
                             runs[i].line);
    }
    assert_int_equal(python_line(format, table, table_bytes, FIRST_LINE, -1), FIRST_LINE);
    assert_int_equal(python_line(format, table, table_bytes, FIRST_LINE, -2), FIRST_LINE);
}

TEST(pairs_are_read_as_3_8_reads_them)
{
    static const uint8_t table[] = {0, 1, 4, 1, 2,  1, 2, 255, 4, 127, 0, 75,
                                    8, 1, 2, 1, 10, 2, 8, 1,   2, 1,   4, 255};
    static const struct run runs[] = {{0, 11},   {4, 12},   {6, 13},   {8, 12},
                                      {12, 214}, {20, 215}, {22, 216}, {32, 218},
                                      {40, 219}, {42, 220}, {46, 219}};
    check(PYTHON_PAIRS, table, sizeof table, runs, COUNT(runs), 50);
}

TEST(ranges_are_read_as_3_10_reads_them)
{
    static const uint8_t table[] = {4, 1, 2, 1, 2,  1, 4, 255, 0, 127, 8, 75,
                                    2, 1, 8, 1, 12, 2, 2, 1,   4, 1,   4, 255};
    static const struct run runs[] = {{0, 11},   {4, 12},   {6, 13},   {8, 12},
                                      {12, 214}, {20, 215}, {22, 216}, {30, 218},
                                      {42, 219}, {44, 220}, {48, 219}};
    check(PYTHON_RANGES, table, sizeof table, runs, COUNT(runs), 52);
}

TEST(a_range_of_no_line_says_so_and_moves_nothing)
{
    static const uint8_t table[] = {4, 1, 6, 0x80, 2, 3};
    static const struct run runs[] = {{0, 11}, {4, 0}, {10, 14}};
    check(PYTHON_RANGES, table, sizeof table, runs, COUNT(runs), 12);
}

TEST(entries_are_read_as_3_11_reads_them)
{
    static const uint8_t table[] = {
        128, 0,   216, 7,   8,  240, 0,  2,   5,  16,  216, 13,  14,  216, 13,  14,
        240, 3,   1,   13,  16, 136, 1,  240, 84, 6,   0,   14,  15,  240, 0,   4,
        5,   18,  240, 0,   4,  5,   18, 136, 1,  240, 2,   3,   9,   18,  216, 12,
        13,  136, 65,  137, 67, 140, 67, 136, 67, 224, 16,  17,  136, 65,  136, 65,
        248, 144, 1,   136, 65, 136, 69, 136, 69, 136, 69,  136, 69,  216, 12,  13,
        216, 12,  13,  140, 67, 241, 3,  1,   13, 16,  240, 0,   1,   5,   17};
    static const struct run runs[] = {{0, 10},   {2, 11},   {6, 12},   {8, 13},   {10, 12},
                                      {14, 214}, {22, 215}, {24, 216}, {44, 218}, {50, 0},
                                      {52, 218}, {64, 219}, {66, 220}, {78, 219}};
    check(PYTHON_ENTRIES, table, sizeof table, runs, COUNT(runs), 84);
}

TEST(entries_are_read_as_3_12_reads_them)
{
    static const uint8_t table[] = {
        128, 0,   217, 7,  8,  216, 13,  14,  216, 13, 14,  240, 3,   1,  13,  16, 136,
        1,   240, 84,  6,  0,  14,  15,  242, 0,   4,  5,   18,  136, 1,  240, 2,  3,
        9,   18,  217, 12, 13, 140, 67,  224, 16,  17, 137, 65,  240, 9,  4,   5,  18,
        240, 10,  0,   13, 14, 216, 12,  13,  143, 67, 137, 67,  241, 3,  1,   13, 16,
        240, 0,   1,   5,  17, 248, 240, 3,   0,   17, 18,  137, 65,  250};
    static const struct run runs[] = {
        {0, 10},   {2, 11},   {6, 12},   {8, 13},   {10, 12},  {14, 214}, {24, 215}, {26, 216},
        {40, 218}, {46, 214}, {48, 219}, {50, 220}, {72, 219}, {78, 0},   {80, 218}, {86, 0}};
    check(PYTHON_ENTRIES, table, sizeof table, runs, COUNT(runs), 92);
}

TEST(a_place_beyond_the_table_has_no_line_and_a_cut_table_does_no_harm)
{
    static const uint8_t cut[] = {0x80 | 14 << 3 | 7, 0x7f};
    assert_int_equal(python_line(PYTHON_ENTRIES, cut, sizeof cut, FIRST_LINE, 400), 0);
    assert_int_equal(python_line(PYTHON_ENTRIES, cut, 0, FIRST_LINE, 0), 0);
    assert_int_equal(python_line(PYTHON_RANGES, cut, 1, FIRST_LINE, 0), 0);
    assert_int_equal(python_line(PYTHON_PAIRS, cut, 1, FIRST_LINE, 0), FIRST_LINE);
}

UNIT_MAIN(NULL, NULL)
