/* SPDX-License-Identifier: MIT */
/* Rows as text: numbers of every length, escapes, missing columns. Rows as a block of columns. */
#include "analyzer/fleet/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/unit_test.h"

/* Adds the columns of one row of the table `stack`. */
static void add_stack(struct rows *rows, int64_t process, uint64_t stack_id, const char *frames)
{
    rows_begin(rows);
    rows_integer(rows, FLEET_stack_process, process);
    rows_number(rows, FLEET_stack_stack_id, stack_id);
    rows_text(rows, FLEET_stack_frames, frames);
    rows_end(rows);
}

static void check_row(int64_t process, uint64_t stack_id)
{
    char expected[80];
    struct rows rows;
    struct err err;
    rows_init(&rows, FLEET_stack, NULL);
    add_stack(&rows, process, stack_id, "f");
    snprintf(expected, sizeof expected, "%" PRId64 "\t%" PRIu64 "\tf\n", process, stack_id);
    assert_string_equal(rows.body.data, expected);
    assert_int_equal(rows_check(&rows, &err), 0);
    rows_release(&rows);
}

TEST(numbers_of_every_length_are_those_of_printf)
{
    uint64_t power = 1;
    for (int digits = 1; digits <= 20; digits++, power *= 10) {
        check_row(-(int64_t)(power / 2), power - 1);
        check_row((int64_t)(power / 2), power);
        check_row(INT64_MIN, power + 1);
    }
    for (int bit = 0; bit < 64; bit++)
        check_row(INT64_MAX, UINT64_C(1) << bit);
    check_row(0, UINT64_MAX);
}

TEST(a_text_of_any_length_is_escaped_and_leaves_room_for_the_next_row)
{
    enum { LENGTH = 100000 };
    char *text = malloc(LENGTH + 1);
    struct rows rows;
    struct err err;
    assert_non_null(text);
    memset(text, '\t', LENGTH);
    text[LENGTH] = '\0';
    rows_init(&rows, FLEET_stack, NULL);
    add_stack(&rows, 1, 2, text);
    add_stack(&rows, 3, 4, "a\\b\nc\rd");
    assert_int_equal(rows_check(&rows, &err), 0);
    assert_int_equal(rows.count, 2);
    const char last[] = "\\t\n3\t4\ta\\\\b\\nc\\rd\n";
    assert_int_equal(rows.body.length, strlen("1\t2\t") + 2 * LENGTH - 2 + strlen(last));
    assert_string_equal(rows.body.data + rows.body.length - strlen(last), last);
    rows_release(&rows);
    free(text);
}

TEST(columns_are_written_one_after_the_other_with_their_names_and_types)
{
    static const char head[] = "\3\2"
                               "\7process\5Int32\376\377\377\377\4\0\0\0"
                               "\10stack_id\6UInt64\3\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0"
                               "\6frames\6String\2ab\310\1";
    char text[201] = "";
    struct rows rows;
    struct err err;
    memset(text, '\t', sizeof text - 1);
    rows_init_columns(&rows, FLEET_stack);
    for (int batch = 0; batch < 2; batch++) {
        add_stack(&rows, -2, 3, "ab");
        add_stack(&rows, 4, 256, text);
        assert_int_equal(rows_finish(&rows, &err), 0);
        assert_int_equal(rows.body.length, sizeof head - 1 + strlen(text));
        assert_memory_equal(rows.body.data, head, sizeof head - 1);
        assert_string_equal(rows.body.data + sizeof head - 1, text);
        rows_clear(&rows);
    }
    rows_release(&rows);
}

TEST(a_row_with_a_missing_or_a_repeated_column_is_refused)
{
    for (int is_repeated = 0; is_repeated < 2; is_repeated++) {
        struct rows rows;
        struct err err;
        rows_init(&rows, FLEET_stack, NULL);
        rows_begin(&rows);
        rows_integer(&rows, FLEET_stack_process, 1);
        for (int i = 0; is_repeated && i < 10000; i++)
            rows_integer(&rows, FLEET_stack_process, INT64_MIN);
        rows_text(&rows, FLEET_stack_frames, "f");
        rows_end(&rows);
        assert_int_equal(rows_check(&rows, &err), -1);
        assert_string_equal(err.message,
                            "a row of the table stack has other columns than tables.def");
        rows_release(&rows);
    }
}

UNIT_MAIN(NULL, NULL)
