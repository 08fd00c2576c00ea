/* SPDX-License-Identifier: MIT */
/* Lines of text; see text_lines.h. */
#include "text_lines.h"

#include "analyzer/util/utf8.h"

void text_lines_begin(struct text_lines *lines, int indent)
{
    if (lines->gap && lines->started)
        putc('\n', lines->out);
    lines->gap = false;
    lines->started = true;
    fprintf(lines->out, "%*s", indent, "");
}

/* Writes the string, which may end before its zero. */
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

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

/* The end of the word at string; *columns becomes its width. */
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

void text_lines_add_wrapped(struct text_lines *lines, const char *string, int indent)
{
    size_t room = indent < TEXT_LINES_COLUMNS / 2 ? TEXT_LINES_COLUMNS - (size_t)indent
                                                  : TEXT_LINES_COLUMNS / 2;
    size_t used = 0;
    for (;;) {
        while (is_space(*string))
            string++;
        if (!*string)
            break;
        size_t columns;
        const char *end = word_end(string, &columns);
        if (used > 0 && used + 1 + columns > room) {
            putc('\n', lines->out);
            used = 0;
        }
        if (used == 0)
            text_lines_begin(lines, indent);
        else
            putc(' ', lines->out);
        write_text(lines->out, string, end);
        used += columns + (used > 0);
        string = end;
    }
    if (used > 0)
        putc('\n', lines->out);
}
