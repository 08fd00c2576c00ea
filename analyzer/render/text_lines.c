/* SPDX-License-Identifier: MIT */
/* Writes lines of text; see text_lines.h. */
#include "text_lines.h"

#include <string.h>

#include "analyzer/util/utf8.h"

void text_lines_begin(struct text_lines *lines, int indent)
{
    if (lines->gap && lines->started)
        putc('\n', lines->out);
    lines->gap = false;
    lines->started = true;
    fprintf(lines->out, "%*s", indent, "");
}

/* Writes string up to `end`. */
static void write_text(FILE *out, const char *string, const char *end)
{
    while (string < end)
        string += utf8_put(string, out);
}

void text_lines_add(struct text_lines *lines, const char *string, size_t columns)
{
    const char *end = string;
    size_t written = 0;
    while (*end) {
        uint32_t code;
        end += utf8_next(end, &code);
        written += utf8_columns(code);
    }
    write_text(lines->out, string, end);
    if (written < columns)
        fprintf(lines->out, "%*s", (int)(columns - written), "");
}

/* Returns the last `columns` columns of the string. */
static const char *tail_of(const char *string, size_t columns)
{
    size_t left = utf8_text_columns(string);
    while (*string && left > columns) {
        uint32_t code;
        string += utf8_next(string, &code);
        left -= utf8_columns(code);
    }
    return string;
}

struct text_cut text_lines_cut(const char *string, size_t columns)
{
    const char *end = string;
    size_t written = 0;
    while (written < columns / 2) {
        uint32_t code;
        const char *next = end + utf8_next(end, &code);
        if (written + utf8_columns(code) > columns / 2)
            break;
        written += utf8_columns(code);
        end = next;
    }
    const size_t left = columns - written - 1;
    return (struct text_cut){.head_end = end, .tail = tail_of(end, left), .tail_columns = left};
}

void text_lines_add_cut(struct text_lines *lines, const char *string, size_t columns)
{
    if (utf8_text_columns(string) <= columns) {
        text_lines_add(lines, string, columns);
        return;
    }
    const struct text_cut cut = text_lines_cut(string, columns);
    write_text(lines->out, string, cut.head_end);
    fputs("…", lines->out);
    text_lines_add(lines, cut.tail, cut.tail_columns);
}

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

/* Returns the end of the word at string, and its width in *columns. */
static const char *word_end(const char *string, size_t *columns)
{
    *columns = 0;
    while (*string && !is_space(*string)) {
        uint32_t code;
        string += utf8_next(string, &code);
        *columns += utf8_columns(code);
    }
    return string;
}

void text_lines_add_hanging(struct text_lines *lines, const char *string, size_t column)
{
    size_t used = column, columns;
    if (!lines->window.is_bounded || column + utf8_text_columns(string) <= lines->window.columns) {
        text_lines_add(lines, string, 0);
        string = "";
    }
    while (*string) {
        const char *end = word_end(string, &columns);

        if (used > column && used + 1 + columns > lines->window.columns) {
            fprintf(lines->out, "\n%*s", (int)column, "");
            used = column;
        } else if (used > column) {
            putc(' ', lines->out);
            used++;
        }
        write_text(lines->out, string, end);
        used += columns;
        for (string = end; is_space(*string);)
            string++;
    }
    putc('\n', lines->out);
}

static void begin_sentence_line(struct text_lines *lines, int indent)
{
    text_lines_begin(lines, indent);
    if (lines->is_bold && lines->window.has_colour)
        fputs("\033[1m", lines->out);
}

static void end_sentence_line(struct text_lines *lines)
{
    if (lines->is_bold && lines->window.has_colour)
        fputs("\033[0m", lines->out);
    putc('\n', lines->out);
}

void text_lines_add_whole(struct text_lines *lines, const char *string, int indent)
{
    begin_sentence_line(lines, indent);
    write_text(lines->out, string, string + strlen(string));
    end_sentence_line(lines);
}

void text_lines_add_wrapped(struct text_lines *lines, const char *string, int indent)
{
    const size_t width =
        lines->window.columns < WINDOW_COLUMNS ? lines->window.columns : WINDOW_COLUMNS;
    const size_t room = (size_t)indent < width / 2 ? width - (size_t)indent : width / 2;
    size_t used = 0;
    for (;;) {
        while (is_space(*string))
            string++;
        if (!*string)
            break;
        size_t columns;
        const char *end = word_end(string, &columns);
        if (used > 0 && used + 1 + columns > room) {
            end_sentence_line(lines);
            used = 0;
        }
        if (used == 0)
            begin_sentence_line(lines, indent);
        else
            putc(' ', lines->out);
        write_text(lines->out, string, end);
        used += columns + (used > 0);
        string = end;
    }
    if (used > 0)
        end_sentence_line(lines);
}
