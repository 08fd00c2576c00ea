/* SPDX-License-Identifier: MIT */
/* See answer.h. The server answers in the format TabSeparatedWithNames. */
#include "answer.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"

enum { SQL_MOST_BYTES = 1 << 18 };

static size_t count_of(const char *text, char wanted)
{
    size_t count = 0;
    for (; *text; text++)
        count += *text == wanted;
    return count;
}

static char unescaped(char c)
{
    switch (c) {
    case 't':
        return '\t';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case '0':
        return ' ';
    default:
        return c;
    }
}

/* Unescapes a cell in place, which is possible because the text never becomes longer. */
static const char *cell_of(char *text)
{
    char *out = text;
    if (!strcmp(text, "\\N"))
        return NULL;
    for (const char *in = text; *in; in++)
        *out++ = *in == '\\' && in[1] ? unescaped(*++in) : *in;
    *out = '\0';
    return text;
}

/* Splits a line into cells and returns their number. *next becomes the beginning of the next
 * line. */
static size_t take_line(char *line, const char *cells[], size_t room, char **next)
{
    const size_t length = strcspn(line, "\n");
    size_t count = 0;
    *next = line + length + (line[length] != '\0');
    line[length] = '\0';
    for (char *cell = line; cell && count < room;) {
        char *tab = strchr(cell, '\t');

        if (tab)
            *tab++ = '\0';
        cells[count++] = cell_of(cell);
        cell = tab;
    }
    return count;
}

static int read_table(struct answer_table *answer, const struct server *server, struct err *err)
{
    char *line = answer->text, *next;
    const size_t lines = count_of(line, '\n');
    char *end = strchr(line, '\n');
    if (!end)
        return err_set(err, ERR_INPUT, "the answer of %s has no heading", server_name(server));
    *end = '\0';
    answer->column_count = count_of(line, '\t') + 1;
    *end = '\n';
    answer->names = array_new(answer->column_count, sizeof *answer->names, err);
    answer->cells = array_new(answer->column_count * lines, sizeof *answer->cells, err);
    if (!answer->names || !answer->cells)
        return -1;
    take_line(line, answer->names, answer->column_count, &next);
    for (line = next; *line; line = next) {
        const char **row = answer->cells + answer->row_count * answer->column_count;

        if (take_line(line, row, answer->column_count, &next) != answer->column_count)
            return err_set(err, ERR_INPUT, "the answer of %s has a row that is cut short",
                           server_name(server));
        answer->row_count++;
    }
    return 0;
}

int answer_ask(struct answer_table *answer, struct server *server, const char *sql, struct err *err)
{
    struct text statement, text;
    *answer = (struct answer_table){0};
    text_init(&statement, SQL_MOST_BYTES);
    text_init(&text, FLEET_ANSWER_MOST_BYTES);
    text_add(&statement, sql);
    text_add(&statement, "\nFORMAT TabSeparatedWithNames");
    int status = text_failed(&statement) ? -1 : server_ask(server, statement.data, &text, err);
    if (text_failed(&statement))
        err_set(err, ERR_SYSTEM, "out of memory for a statement");
    if (!status) {
        answer->text = strdup(text.data);
        if (!answer->text)
            err_set(err, ERR_SYSTEM, "out of memory for an answer of %s", server_name(server));
        status = answer->text ? read_table(answer, server, err) : -1;
    }
    text_release(&statement);
    text_release(&text);
    if (status)
        answer_release(answer);
    return status;
}

void answer_release(struct answer_table *answer)
{
    free(answer->text);
    free(answer->cells);
    free(answer->names);
    *answer = (struct answer_table){0};
}

const char *answer_text(const struct answer_table *answer, size_t row, const char *column)
{
    for (size_t i = 0; i < answer->column_count && row < answer->row_count; i++)
        if (answer->names[i] && !strcmp(answer->names[i], column))
            return answer->cells[row * answer->column_count + i];
    return NULL;
}

uint64_t answer_count(const struct answer_table *answer, size_t row, const char *column)
{
    const char *text = answer_text(answer, row, column);
    return text ? strtoull(text, NULL, 10) : 0;
}

int64_t answer_integer(const struct answer_table *answer, size_t row, const char *column)
{
    const char *text = answer_text(answer, row, column);
    return text ? strtoll(text, NULL, 10) : 0;
}
