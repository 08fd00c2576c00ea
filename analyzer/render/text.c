/* SPDX-License-Identifier: MIT */
/*
 * Text for people at a terminal:
 *
 *     Heading
 *       label         value           fields: labels padded to the longest
 *       longer label  value
 *       A note, wrapped.
 *
 *       Heading of a list
 *            Bytes  Count  Phase      a table: numbers right, texts left
 *         1.00 GiB      2  forward
 *             train.py:12 forward     a list without heading inside a row
 *
 * A list whose rows hold objects or lists with headings is a sequence of sections instead.
 */
#include <stdlib.h>
#include <string.h>

#include "text_lines.h"
#include "format.h"
#include "walk.h"
#include "analyzer/util/utf8.h"

#define INDENT 2
#define ROW_INDENT 4
#define COLUMN_GAP 2

/* --- fields --- */

/* The first node after a run of fields; what is empty does not end the run. */
static const struct doc_node *fields_end(const struct doc_node *node, size_t *label_columns)
{
    *label_columns = 0;
    for (; node && (node->type == DOC_FIELD || !walk_is_visible(node)); node = node->next) {
        const size_t columns = node->type == DOC_FIELD ? utf8_text_columns(node->label) : 0;
        if (columns > *label_columns)
            *label_columns = columns;
    }
    return node;
}

static const struct doc_node *write_fields(struct text_lines *lines, const struct doc_node *node,
                                           int indent)
{
    size_t label_columns;
    const struct doc_node *end = fields_end(node, &label_columns);
    for (; node != end; node = node->next) {
        char buffer[UNITS_TEXT_BYTES];
        if (node->type != DOC_FIELD)
            continue;
        text_lines_begin(lines, indent);
        if (label_columns > 0)
            text_lines_add(lines, node->label, label_columns + COLUMN_GAP);
        text_lines_add_hanging(lines, walk_people_value(node, buffer),
                               (size_t)indent + (label_columns ? label_columns + COLUMN_GAP : 0));
    }
    return end;
}

/* --- tables --- */

struct column {
    const char *label;
    size_t columns; /* of the widest cell or label */
    bool right;     /* numbers */
    bool is_spare, is_left_out;
};

struct table {
    struct column *columns;
    size_t count;
    bool has_header; /* a label is not "" */
};

static bool is_number(enum doc_unit unit)
{
    return unit != DOC_TEXT && unit != DOC_BOOL;
}

/* The node itself, or the first field after it. */
static const struct doc_node *field_from(const struct doc_node *node)
{
    while (node && node->type != DOC_FIELD)
        node = node->next;
    return node;
}

static void column_widen(struct column *column, const char *content)
{
    size_t columns = utf8_text_columns(content);
    if (columns > column->columns)
        column->columns = columns;
}

/* Rows of one list carry the same fields, so the first one names the columns. */
static int table_init(struct table *table, const struct doc_node *first_row, struct err *err)
{
    const struct doc_node *field;
    *table = (struct table){0};
    for (field = field_from(first_row->first_child); field; field = field_from(field->next))
        table->count++;
    table->columns = calloc(table->count + 1, sizeof *table->columns);
    if (!table->columns) {
        err_set(err, ERR_SYSTEM, "out of memory for a table of the result");
        return -1;
    }
    field = field_from(first_row->first_child);
    for (size_t i = 0; i < table->count; i++, field = field_from(field->next)) {
        table->columns[i] = (struct column){
            .label = field->label, .right = is_number(field->unit), .is_spare = field->is_spare};
        column_widen(&table->columns[i], field->label);
        table->has_header |= field->label[0] != '\0';
    }
    return 0;
}

static void table_measure(struct table *table, const struct doc_node *row)
{
    char buffer[UNITS_TEXT_BYTES];
    const struct doc_node *field = field_from(row->first_child);
    for (size_t i = 0; i < table->count && field; i++, field = field_from(field->next))
        column_widen(&table->columns[i], walk_people_value(field, buffer));
}

/* The text column that is widest; NULL: none can do with less. */
static struct column *widest_text(const struct table *table)
{
    enum { FEWEST_COLUMNS = 12 };
    struct column *widest = NULL;
    for (size_t i = 0; i < table->count; i++) {
        struct column *column = &table->columns[i];
        if (!column->right && !column->is_left_out && column->columns > FEWEST_COLUMNS &&
            (!widest || column->columns > widest->columns))
            widest = column;
    }
    return widest;
}

/* Leaves out columns until rows of so many columns fit, the last first: spare ones, or any numbers. */
static size_t leave_out(struct table *table, size_t total, size_t room, bool only_spare)
{
    for (size_t i = table->count; total > room && i-- > 1;) {
        struct column *column = &table->columns[i];
        if (column->is_left_out || (only_spare ? !column->is_spare : !column->right))
            continue;
        column->is_left_out = true;
        total -= column->columns + COLUMN_GAP;
    }
    return total;
}

/* Where rows would be wider than the window, spare columns are left out; if that is not enough, texts
 * lose their middle, the widest first; at last numbers are left out, too. */
static void table_fit(struct table *table, const struct window *window, int indent)
{
    size_t total = (size_t)indent;
    if (!window->is_bounded)
        return;
    for (size_t i = 0; i < table->count; i++)
        total += table->columns[i].columns + (i ? COLUMN_GAP : 0);
    total = leave_out(table, total, window->columns, true);
    while (total > window->columns) {
        struct column *widest = widest_text(table);
        if (!widest)
            break;
        widest->columns--;
        total--;
    }
    leave_out(table, total, window->columns, false);
}

/*
 * One cell. Spaces are owed and paid before the next text, so that no line ends in them; *owed is
 * the number so far.
 */
static void write_table_cell(struct text_lines *lines, const struct column *column,
                             const char *content, size_t *owed)
{
    size_t columns = utf8_text_columns(content);
    if (column->is_left_out)
        return;
    if (columns > column->columns)
        columns = column->columns;
    const size_t padding = column->columns - columns;
    if (columns > 0) {
        fprintf(lines->out, "%*s", (int)(*owed + (column->right ? padding : 0)), "");
        text_lines_add_cut(lines, content, columns);
        *owed = column->right ? 0 : padding;
    } else {
        *owed += padding;
    }
    *owed += COLUMN_GAP;
}

static void write_table_header(struct text_lines *lines, const struct table *table, int indent)
{
    size_t owed = 0;
    text_lines_begin(lines, indent);
    for (size_t i = 0; i < table->count; i++)
        write_table_cell(lines, &table->columns[i], table->columns[i].label, &owed);
    putc('\n', lines->out);
}

static void write_table_row(struct text_lines *lines, const struct table *table,
                            const struct doc_node *row, int indent)
{
    char buffer[UNITS_TEXT_BYTES];
    size_t owed = 0;
    const struct doc_node *field = field_from(row->first_child);
    if (!field)
        return;
    text_lines_begin(lines, indent);
    for (size_t i = 0; i < table->count && field; i++, field = field_from(field->next))
        write_table_cell(lines, &table->columns[i], walk_people_value(field, buffer), &owed);
    putc('\n', lines->out);
}

static int write_list(struct text_lines *lines, const struct doc_node *list, int indent,
                      struct err *err);

static void write_note(struct text_lines *lines, const struct doc_node *note, int indent)
{
    if (note->is_whole)
        text_lines_add_whole(lines, note->text, indent);
    else
        text_lines_add_wrapped(lines, note->text, indent);
}

/* What stands in a row beside its fields: lists without heading, and notes. */
static int write_row_details(struct text_lines *lines, const struct doc_node *row, int indent,
                             struct err *err)
{
    for (const struct doc_node *child = row->first_child; child; child = child->next) {
        if (child->type == DOC_NOTE)
            write_note(lines, child, indent);
        if (child->type == DOC_LIST && write_list(lines, child, indent, err))
            return -1;
    }
    return 0;
}

static const struct doc_node *first_row(const struct doc_node *list)
{
    const struct doc_node *child = list->first_child;
    while (child && child->type != DOC_OBJECT)
        child = child->next;
    return child;
}

static void write_element(struct text_lines *lines, const struct doc_node *element, int indent)
{
    char buffer[UNITS_TEXT_BYTES];
    if (element->type == DOC_NOTE)
        write_note(lines, element, indent);
    else if (element->type == DOC_FIELD)
        text_lines_add_wrapped(lines, walk_people_value(element, buffer), indent);
}

static int write_table(struct text_lines *lines, const struct doc_node *list, int indent,
                       struct err *err)
{
    struct table table = {0};
    int result = -1;
    if (first_row(list) && table_init(&table, first_row(list), err))
        goto out;
    for (const struct doc_node *child = list->first_child; child; child = child->next)
        if (child->type == DOC_OBJECT)
            table_measure(&table, child);
    table_fit(&table, &lines->window, indent);
    if (table.has_header)
        write_table_header(lines, &table, indent);
    for (const struct doc_node *child = list->first_child; child; child = child->next) {
        if (child->type != DOC_OBJECT) {
            write_element(lines, child, indent);
            continue;
        }
        write_table_row(lines, &table, child, indent);
        if (write_row_details(lines, child, indent + ROW_INDENT, err))
            goto out;
    }
    result = 0;
out:
    free(table.columns);
    return result;
}

/* --- objects and sections --- */

static int write_object(struct text_lines *lines, const struct doc_node *object, int indent,
                        struct err *err);

static int write_sections(struct text_lines *lines, const struct doc_node *list, int indent,
                          struct err *err)
{
    for (const struct doc_node *child = list->first_child; child; child = child->next) {
        if (child->type != DOC_OBJECT)
            write_element(lines, child, indent);
        else if (write_object(lines, child, indent, err))
            return -1;
        lines->gap = true;
    }
    return 0;
}

static int write_list(struct text_lines *lines, const struct doc_node *list, int indent,
                      struct err *err)
{
    if (walk_is_table(list))
        return write_table(lines, list, indent, err);
    return write_sections(lines, list, indent, err);
}

/* An object or list with its heading; empty lines set it off. */
static int write_section(struct text_lines *lines, const struct doc_node *node, int indent,
                         struct err *err)
{
    lines->gap = true;
    lines->is_bold = node->key && !strcmp(node->key, "answer");
    if (node->label) {
        text_lines_begin(lines, indent);
        text_lines_add(lines, node->label, 0);
        putc('\n', lines->out);
        indent += INDENT;
    }
    int result = node->type == DOC_LIST ? write_list(lines, node, indent, err)
                                        : write_object(lines, node, indent, err);
    lines->gap = true;
    lines->is_bold = false;
    return result;
}

static int write_object(struct text_lines *lines, const struct doc_node *object, int indent,
                        struct err *err)
{
    const struct doc_node *child = object->first_child;
    while (child) {
        if (!walk_is_visible(child)) {
            child = child->next;
        } else if (child->type == DOC_FIELD) {
            child = write_fields(lines, child, indent);
        } else if (child->type == DOC_NOTE) {
            write_note(lines, child, indent);
            child = child->next;
        } else {
            if (write_section(lines, child, indent, err))
                return -1;
            child = child->next;
        }
    }
    return 0;
}

int render_text(const struct doc *doc, FILE *out, struct err *err)
{
    struct text_lines lines = {.out = out, .window = window_of(out)};
    return write_object(&lines, doc_root(doc), 0, err);
}
