/* SPDX-License-Identifier: MIT */
/*
 * Writes CSV (RFC 4180), which holds one table. The table is the list that the document names
 * (doc_set_table), or the first list whose rows are lines if the document names none. A list may
 * stand in several places (the sites of each device, the devices of each trace); the rows of all
 * lists with the same path go into the table. Each line begins with the first value of each
 * enclosing row (device, path), to tell such rows apart. A list inside a row becomes one cell, as
 * JSON in ASCII. If the named list has no rows, only the header line is written. If the document
 * has no table, lines of key,value are written.
 *
 * Texts come from the traced program: control characters are replaced as in text, and a cell that a
 * spreadsheet would take for a formula begins with an apostrophe. Numbers are not changed.
 */
#include <string.h>

#include "analyzer/util/utf8.h"
#include "csv.h"
#include "format.h"
#include "walk.h"

#define DEPTH_MAX 16

struct table {
    const char *name; /* key of the list to find; NULL: any list whose rows are lines */
    bool take_empty;
    const char *keys[DEPTH_MAX]; /* of the objects and lists on the path to the table */
    int depth;
    const struct doc_node *leading[DEPTH_MAX]; /* first values of the open rows */
    int leading_count;
    bool header_written;
    FILE *out;
};

static bool is_cell(const struct doc_node *node)
{
    return node->type == DOC_FIELD || node->type == DOC_LIST;
}

/* --- cells --- */

static const char *value_or_empty(const struct doc_node *field, char buffer[UNITS_TEXT_BYTES])
{
    const char *value = walk_machine_value(field, buffer);
    return value ? value : "";
}

/* Writes a cell in quotes. A quote inside is doubled, and a line feed stays. */
static void write_quoted(FILE *out, const char *string)
{
    while (*string) {
        if (*string == '"')
            putc('"', out);
        if (*string == '\n')
            putc(*string++, out);
        else
            string += utf8_put(string, out);
    }
}

/* A cell needs quotes if it holds a comma, a quote or a line feed. */
static void write_csv_cell(FILE *out, const char *guard, const char *string)
{
    const char *quote = string[strcspn(string, "\",\n")] ? "\"" : "";
    fprintf(out, "%s%s", quote, guard);
    write_quoted(out, string);
    fputs(quote, out);
}

const char *csv_guard(const char *text)
{
    return *text && strchr("=+-@\t\r", *text) ? "'" : "";
}

void csv_put(FILE *out, const char *text)
{
    write_csv_cell(out, csv_guard(text), text);
}

static const char *guard_of(const struct doc_node *field)
{
    return field->unit == DOC_TEXT && !field->is_null ? csv_guard(field->text) : "";
}

static void write_csv_field(FILE *out, const struct doc_node *field)
{
    char buffer[UNITS_TEXT_BYTES];
    write_csv_cell(out, guard_of(field), value_or_empty(field, buffer));
}

/* --- lists in a cell: JSON, whose quotes are doubled in CSV --- */

static void write_inner_code(FILE *out, uint32_t code)
{
    enum { FIRST_BEYOND = 0x10000 };
    if (code == '"' || code == '\\')
        fprintf(out, "\\%s", code == '"' ? "\"\"" : "\\");
    else if (code >= ' ' && code < 0x7f)
        putc((int)code, out);
    else if (code < FIRST_BEYOND)
        fprintf(out, "\\u%04x", (unsigned)code);
    else
        fprintf(out, "\\u%04x\\u%04x", 0xd800 | (unsigned)(code - FIRST_BEYOND) >> 10,
                0xdc00 | ((unsigned)(code - FIRST_BEYOND) & 0x3ff));
}

static void write_inner_string(FILE *out, const char *string)
{
    fputs("\"\"", out);
    while (*string) {
        uint32_t code;
        string += utf8_next(string, &code);
        write_inner_code(out, code);
    }
    fputs("\"\"", out);
}

static void write_inner_node(FILE *out, const struct doc_node *node)
{
    char buffer[UNITS_TEXT_BYTES];
    const bool is_list = node->type == DOC_LIST;
    if (node->type == DOC_FIELD) {
        const char *value = walk_machine_value(node, buffer);
        if (value && node->unit == DOC_TEXT)
            write_inner_string(out, value);
        else
            fputs(value ? value : "null", out);
        return;
    }
    putc(is_list ? '[' : '{', out);
    for (const struct doc_node *child = node->first_child; child; child = child->next) {
        fputs(child == node->first_child ? "" : ", ", out);
        if (!is_list)
            fprintf(out, "\"\"%s\"\": ", child->key);
        write_inner_node(out, child);
    }
    putc(is_list ? ']' : '}', out);
}

static void write_inner_list(FILE *out, const struct doc_node *list)
{
    putc('"', out);
    write_inner_node(out, list);
    putc('"', out);
}

static void end_line(FILE *out)
{
    fputs("\r\n", out);
}

/* --- the table --- */

static bool has_rows(const struct doc_node *list)
{
    return list->first_child && list->first_child->type == DOC_OBJECT;
}

static bool is_wanted(const struct table *table, const struct doc_node *list)
{
    if (!table->name)
        return has_rows(list) && walk_is_table(list);
    return !strcmp(list->key, table->name) && (table->take_empty || has_rows(list));
}

static bool find_list_below(struct table *table, const struct doc_node *node);

/* Searches node and everything below for the first wanted list, and leaves the path to it
 * in table->keys. */
static bool find_list(struct table *table, const struct doc_node *node)
{
    if (node->type == DOC_FIELD || table->depth == DEPTH_MAX)
        return false;
    table->keys[table->depth++] = node->key;
    if (node->type == DOC_LIST && is_wanted(table, node))
        return true;
    if (node->type == DOC_OBJECT && find_list_below(table, node))
        return true;
    if (node->type == DOC_LIST)
        for (const struct doc_node *row = node->first_child; row; row = row->next)
            if (row->type == DOC_OBJECT && find_list_below(table, row))
                return true;
    table->depth--;
    return false;
}

static bool find_list_below(struct table *table, const struct doc_node *node)
{
    for (const struct doc_node *child = node->first_child; child; child = child->next)
        if (find_list(table, child))
            return true;
    return false;
}

/* A schema never leads a line, because it is the same in all rows. */
static const struct doc_node *first_value(const struct doc_node *node)
{
    const bool is_value = node->type == DOC_FIELD && strcmp(node->key, "schema");
    const struct doc_node *found = is_value ? node : NULL;
    if (node->type == DOC_OBJECT)
        for (const struct doc_node *child = node->first_child; child && !found; child = child->next)
            found = first_value(child);
    return found;
}

/* Returns the column name of a leading value. NULL: the row itself has a field of that name, so the
 * leading value is left out. The name "path" is an exception: a row's path names a phase, so the
 * column of a trace's path is called "trace". */
static const char *leading_name(const struct doc_node *leading, const struct doc_node *row)
{
    for (const struct doc_node *child = row->first_child; child; child = child->next)
        if (!strcmp(child->key, leading->key))
            return strcmp(leading->key, "path") ? NULL : "trace";
    return leading->key;
}

static void write_csv_header(struct table *table, const struct doc_node *row)
{
    const char *separator = "";
    for (int i = 0; i < table->leading_count; i++) {
        const char *name = leading_name(table->leading[i], row);
        if (!name)
            continue;
        fputs(separator, table->out);
        write_csv_cell(table->out, "", name);
        separator = ",";
    }
    for (const struct doc_node *child = row->first_child; child; child = child->next) {
        if (!is_cell(child))
            continue;
        fputs(separator, table->out);
        write_csv_cell(table->out, "", child->key);
        separator = ",";
    }
    end_line(table->out);
    table->header_written = true;
}

static void write_csv_row(struct table *table, const struct doc_node *row)
{
    const char *separator = "";
    for (int i = 0; i < table->leading_count; i++) {
        if (!leading_name(table->leading[i], row))
            continue;
        fputs(separator, table->out);
        write_csv_field(table->out, table->leading[i]);
        separator = ",";
    }
    for (const struct doc_node *child = row->first_child; child; child = child->next) {
        if (!is_cell(child))
            continue;
        fputs(separator, table->out);
        if (child->type == DOC_LIST)
            write_inner_list(table->out, child);
        else
            write_csv_field(table->out, child);
        separator = ",";
    }
    end_line(table->out);
}

static void write_rows(struct table *table, const struct doc_node *list)
{
    for (const struct doc_node *row = list->first_child; row; row = row->next) {
        if (row->type != DOC_OBJECT)
            continue;
        if (!table->header_written)
            write_csv_header(table, row);
        write_csv_row(table, row);
    }
}

static void write_below(struct table *table, const struct doc_node *node, int depth);

static void write_below_rows(struct table *table, const struct doc_node *node, int depth)
{
    if (node->type == DOC_OBJECT) {
        write_below(table, node, depth);
        return;
    }
    for (const struct doc_node *row = node->first_child; row; row = row->next) {
        const struct doc_node *leading = row->type == DOC_OBJECT ? first_value(row) : NULL;
        if (leading)
            table->leading[table->leading_count++] = leading;
        write_below(table, row, depth);
        if (leading)
            table->leading_count--;
    }
}

/* Writes the tables on the path keys[depth…] below node. */
static void write_below(struct table *table, const struct doc_node *node, int depth)
{
    for (const struct doc_node *child = node->first_child; child; child = child->next) {
        if (child->type == DOC_FIELD || strcmp(child->key, table->keys[depth]))
            continue;
        if (depth + 1 < table->depth)
            write_below_rows(table, child, depth + 1);
        else if (child->type == DOC_LIST)
            write_rows(table, child);
    }
}

/* --- key,value --- */

static void write_pairs(FILE *out, const struct doc_node *node, const char *prefix)
{
    char path[256];
    for (const struct doc_node *child = node->first_child; child; child = child->next) {
        snprintf(path, sizeof path, "%s%s%s", prefix, *prefix ? "." : "", child->key);
        if (child->type == DOC_OBJECT) {
            write_pairs(out, child, path);
            continue;
        }
        write_csv_cell(out, "", path);
        putc(',', out);
        if (child->type == DOC_LIST)
            write_inner_list(out, child);
        else
            write_csv_field(out, child);
        end_line(out);
    }
}

/* Finds the list that the document names, preferably one with rows. If there is no such list and
 * the document gives no header line, finds the first list whose rows are lines. */
static bool find_table(struct table *table, const struct doc *doc)
{
    table->name = doc_table(doc);
    for (int try = 0; try < 2 && table->name; try++, table->take_empty = true)
        if (find_list_below(table, doc_root(doc)))
            return true;
    table->name = NULL;
    return !doc_columns(doc) && find_list_below(table, doc_root(doc));
}

/* Writes the header line. With several traces, the trace's path is the first column. */
static void write_empty_table(const struct doc *doc, FILE *out)
{
    const struct doc_node *node = doc_root(doc)->first_child;
    while (node && strcmp(node->key, "traces"))
        node = node->next;
    const bool has_path = strstr(doc_columns(doc), ",path,");
    fprintf(out, "%s%s", !node ? "" : has_path ? "trace," : "path,", doc_columns(doc));
    end_line(out);
}

int render_csv(const struct doc *doc, FILE *out, struct err *err)
{
    struct table table = {.out = out};
    const bool found = find_table(&table, doc);
    (void)err;
    if (found)
        write_below(&table, doc_root(doc), 0);
    if (!table.header_written && doc_columns(doc)) {
        write_empty_table(doc, out);
    } else if (!found) {
        fputs("key,value", out);
        end_line(out);
        write_pairs(out, doc_root(doc), "");
    }
    return 0;
}
