/* SPDX-License-Identifier: MIT */
/* The lines that grow, for sentences; see lines.h. */
#include "lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/page/verdict/verdict.h"
#include "analyzer/util/utf8.h"

const char *slope_text(char out[UNITS_TEXT_BYTES], double bytes)
{
    if (bytes > 0 && bytes < 0.5)
        snprintf(out, UNITS_TEXT_BYTES, "less than 1 B");
    else
        units_bytes(out, (uint64_t)(fabs(bytes) + 0.5));
    return out;
}

/* The growth of one line, whose rows may differ in the function that the line calls. */
struct line {
    const struct blamed *blamed;
    double slope;
};

static bool row_is_of(const struct leak_row *row, enum rows rows)
{
    if (row->cache || row->is_left_out || row->is_enlarged != (rows == ROWS_ENLARGED))
        return false;
    if (rows == ROWS_BESIDE && row->is_saw)
        return false;
    return rows == ROWS_ENLARGED || row->is_of_cause == (rows == ROWS_OF_CAUSE);
}

/* The growth that a sentence about these rows states. */
static double amount_of(const struct account_leak *found, const struct leak_row *row,
                        enum rows rows)
{
    return rows == ROWS_OF_CAUSE && found->rise_steps > 1 ? row->rise_bytes : row->slope;
}

/* Adds up the rows of each line, the steepest line first. More than LINES_MAX are not needed,
 * because a sentence names four at most. */
enum { LINES_MAX = 16 };
static size_t find_lines(struct line lines[LINES_MAX], const struct account_leak *found,
                         enum rows rows)
{
    size_t count = 0;
    for (size_t i = 0; i < found->growing.count; i++) {
        const struct leak_row *row = &found->growing.items[i];
        size_t n = 0;
        if (!row_is_of(row, rows))
            continue;
        while (n < count && lines[n].blamed->label_number != row->blamed->label_number)
            n++;
        if (n == count && count == LINES_MAX)
            continue;
        if (n == count)
            lines[count++] = (struct line){row->blamed, 0};
        lines[n].slope += amount_of(found, row, rows);
        for (; n && lines[n].slope > lines[n - 1].slope; n--) {
            const struct line swapped = lines[n];
            lines[n] = lines[n - 1];
            lines[n - 1] = swapped;
        }
    }
    return count;
}

double lines_slope(const struct account_leak *found, enum rows rows)
{
    double slope = 0;
    for (size_t i = 0; i < found->growing.count; i++)
        if (row_is_of(&found->growing.items[i], rows))
            slope += amount_of(found, &found->growing.items[i], rows);
    return slope;
}

/* The length of "train.py:40" in "train.py:40 main". A label that names no line is taken whole. */
static int position_length(const struct blamed *blamed)
{
    return (int)(blamed->names_line ? strcspn(blamed->label, " ") : strlen(blamed->label));
}

/* True if both are lines of one file, so that the second can be written as ":41". */
static bool are_of_one_file(const struct blamed *one, const struct blamed *other)
{
    const char *colon = strchr(one->label, ':');
    return one->names_line && other->names_line && colon &&
           !strncmp(one->label, other->label, (size_t)(colon + 1 - one->label));
}

/* Adds "train.py:41", or ":41" after a line of the same file. */
static void add_position(struct text *out, const struct blamed *blamed, const struct blamed *after)
{
    const int length = position_length(blamed);
    const int skipped =
        after && are_of_one_file(blamed, after) ? (int)strcspn(blamed->label, ":") : 0;
    text_addf(out, "%.*s", length - skipped, blamed->label + skipped);
}

void lines_add_position(struct text *out, const struct blamed *blamed, const struct blamed *after)
{
    text_add(out, after ? " and " : "");
    add_position(out, blamed, after);
}

/* Lines that grow equally fast, within a tenth, share a figure. */
static bool are_equal(const struct line *steeper, const struct line *other)
{
    return are_of_one_file(steeper->blamed, other->blamed) && other->slope >= 0.9 * steeper->slope;
}

bool lines_worth_naming(double slope, double whole)
{
    return slope * 20 >= whole;
}

static bool is_pair(const struct line *lines, size_t count)
{
    return count > 1 && are_equal(&lines[0], &lines[1]);
}

static double group_slope(const struct line *lines, size_t count)
{
    return lines[0].slope + (is_pair(lines, count) ? lines[1].slope : 0);
}

/* Writes "relax.py:35 and :36", or ":35 and :36" after a line of the same file. Returns the number
 * of lines. */
static size_t add_pair(struct text *out, const struct line *lines, size_t count,
                       const struct blamed *after)
{
    add_position(out, lines[0].blamed, after);
    if (!is_pair(lines, count))
        return 1;
    lines_add_position(out, lines[1].blamed, lines[0].blamed);
    return 2;
}

/* Writes "15.10 MiB by relax.py:35 and :36", and returns the number of lines. */
static size_t add_group(struct text *out, const struct line *lines, size_t count,
                        const struct blamed *after)
{
    char slope[UNITS_TEXT_BYTES];
    text_addf(out, "%s by ", slope_text(slope, group_slope(lines, count)));
    return add_pair(out, lines, count, after);
}

/* Writes ": 15.10 MiB by relax.py:35 and :36, 6.18 MiB by :21". */
static void add_groups(struct text *out, const struct line *lines, size_t count)
{
    text_add(out, ": ");
    const size_t first = add_group(out, lines, count, NULL);
    text_add(out, ", ");
    add_group(out, lines + first, count - first, lines[0].blamed);
}

const char *lines_text(char out[LINES_TEXT_BYTES], const struct account_leak *found, enum rows rows,
                       size_t characters)
{
    char name[VERDICT_NAME_BYTES], slope[UNITS_TEXT_BYTES];
    const double whole = lines_slope(found, rows);
    struct line lines[LINES_MAX];
    size_t count = find_lines(lines, found, rows);
    struct text text;
    text_init_in(&text, out, LINES_TEXT_BYTES);
    text_clear(&text);
    while (count > 1 && !lines_worth_naming(lines[count - 1].slope, whole))
        count--;
    if (!count)
        text_add(&text, ", spread over call stacks, none of which grows by itself");
    else if (count == 1)
        text_addf(&text, " by %s",
                  verdict_fit(name, lines[0].blamed->label,
                              characters > strlen(" by ") ? characters - strlen(" by ") : 0));
    else if (count == 2 && are_equal(&lines[0], &lines[1])) {
        text_add(&text, " by ");
        add_pair(&text, lines, count, NULL);
    } else {
        add_groups(&text, lines, count);
        if (utf8_text_columns(out) <= characters)
            return out;
        text_clear(&text);
        text_addf(&text, ", %s of it by ", slope_text(slope, group_slope(lines, count)));
        add_pair(&text, lines, count, NULL);
    }
    return out;
}

const struct leak_row *lines_steepest(const struct account_leak *found, enum rows rows)
{
    for (size_t i = 0; i < found->growing.count; i++)
        if (row_is_of(&found->growing.items[i], rows))
            return &found->growing.items[i];
    return NULL;
}
