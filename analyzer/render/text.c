/* SPDX-License-Identifier: MIT */
/*
 * Writes text for people at a terminal:
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
 * If the rows of a list hold objects, or lists with headings, each row becomes a section.
 */
#include <stdlib.h>
#include <string.h>

#include "text_lines.h"
#include "format.h"
#include "pictures.h"
#include "walk.h"
#include "analyzer/util/text_set.h"
#include "analyzer/util/utf8.h"

#define INDENT 2
#define ROW_INDENT 4
#define COLUMN_GAP 2

/* --- fields --- */

/* Returns the first visible node after a run of fields. Invisible nodes do not end the run. */
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
    size_t fewest;  /* fewest columns in which different cells still look different */
    bool right;     /* numbers */
    bool is_spare, is_left_out;
    bool is_bar, takes_rest; /* takes_rest: as wide as the window leaves */
};

struct table {
    struct column *columns;
    size_t count;
    bool has_header; /* false: all labels are "" */
};

static bool is_number(enum doc_unit unit)
{
    return unit != DOC_TEXT && unit != DOC_BOOL && unit != DOC_BAR;
}

/* Returns the node itself if it is a field. If not, returns the next field. */
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
    if (!table->columns)
        return err_set(err, ERR_SYSTEM, "out of memory for a table of the result");
    field = field_from(first_row->first_child);
    for (size_t i = 0; i < table->count; i++, field = field_from(field->next)) {
        const bool is_bar = field->unit == DOC_BAR, takes_rest = is_bar && !field->bar_columns;
        table->columns[i] = (struct column){.label = field->label,
                                            .columns = is_bar ? field->bar_columns : 0,
                                            .right = is_number(field->unit),
                                            .is_spare = field->is_spare,
                                            .is_left_out = takes_rest,
                                            .is_bar = is_bar,
                                            .takes_rest = takes_rest};
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

/* --- tables that are wider than the window --- */

enum { FEWEST_COLUMNS = 12, HEAD_AND_TAIL_BYTES = 512 };

/* Counts the different texts of a column if each is cut to `columns`. */
static int count_shown(size_t *count, const struct doc_node *list, size_t number, size_t columns,
                       struct err *err)
{
    struct text_set shown = {0};
    char value[UNITS_TEXT_BYTES], cut_text[HEAD_AND_TAIL_BYTES];
    uint32_t added = 0;
    for (const struct doc_node *row = list->first_child; row && added != TEXT_SET_NONE;
         row = row->next) {
        const struct doc_node *field =
            row->type == DOC_OBJECT ? field_from(row->first_child) : NULL;
        for (size_t i = 0; i < number && field; i++)
            field = field_from(field->next);
        const char *text = field ? walk_people_value(field, value) : "";
        if (utf8_text_columns(text) > columns) {
            const struct text_cut cut = text_lines_cut(text, columns);
            snprintf(cut_text, sizeof cut_text, "%.*s…%s", (int)(cut.head_end - text), text,
                     cut.tail);
            text = cut_text;
        }
        added = text_set_add(&shown, text, err);
    }
    *count = shown.count;
    text_set_release(&shown);
    return added == TEXT_SET_NONE ? -1 : 0;
}

/* Sets `fewest` for columns of texts. With so many columns, different texts stay different after
 * they lose their middle. If half of the window is not enough for that, fewest is
 * FEWEST_COLUMNS. */
static int find_fewest(struct table *table, const struct doc_node *list,
                       const struct window *window, struct err *err)
{
    for (size_t i = 0; i < table->count; i++) {
        struct column *column = &table->columns[i];
        const size_t most = window->columns / 2;
        size_t all, shown, columns = FEWEST_COLUMNS;
        column->fewest = FEWEST_COLUMNS;
        if (column->right || column->is_bar || column->columns <= FEWEST_COLUMNS)
            continue;
        if (count_shown(&all, list, i, column->columns, err) ||
            count_shown(&shown, list, i, columns, err))
            return -1;
        while (shown < all && ++columns <= most)
            if (count_shown(&shown, list, i, columns, err))
                return -1;
        if (columns <= most)
            column->fewest = columns;
    }
    return 0;
}

static size_t first_number(const struct table *table)
{
    size_t i = 0;
    while (i < table->count && !table->columns[i].right)
        i++;
    return i;
}

/* Drops columns, beginning with the last one, until a row that is `total` wide fits into `room`.
 * The first column and the first number stay. Returns the new total. */
static size_t leave_out(struct table *table, size_t total, size_t room, bool only_spare)
{
    for (size_t i = table->count; total > room && i-- > 1;) {
        struct column *column = &table->columns[i];
        if (column->is_left_out || (only_spare ? !column->is_spare : i == first_number(table)))
            continue;
        column->is_left_out = true;
        total -= column->columns + COLUMN_GAP;
    }
    return total;
}

/* Returns the widest column of texts or bars that can shrink; NULL: none can. */
static struct column *widest_text(const struct table *table, bool may_look_alike)
{
    struct column *widest = NULL;
    for (size_t i = 0; i < table->count; i++) {
        struct column *column = &table->columns[i];
        const size_t fewest = may_look_alike ? FEWEST_COLUMNS : column->fewest;
        if (!column->right && !column->is_left_out && column->columns > fewest &&
            (!widest || column->columns > widest->columns))
            widest = column;
    }
    return widest;
}

/* Makes the widest column narrower, again and again. Its texts lose their middle. Returns the new
 * total. */
static size_t shorten(struct table *table, size_t total, size_t room, bool may_look_alike)
{
    struct column *widest;
    while (total > room && (widest = widest_text(table, may_look_alike))) {
        widest->columns--;
        total--;
    }
    return total;
}

/* One bar column gets the space that the other columns leave. */
static void give_rest(struct table *table, size_t rest)
{
    enum { LEAST_BAR = 6, MOST_BAR = 20 };
    for (size_t i = 0; i < table->count && rest >= LEAST_BAR + COLUMN_GAP; i++) {
        struct column *column = &table->columns[i];
        if (!column->takes_rest)
            continue;
        const size_t columns = rest - COLUMN_GAP;
        column->columns = columns < MOST_BAR ? columns : MOST_BAR;
        column->is_left_out = false;
        return;
    }
}

/* Fits rows into the window. Drops spare columns first. After that, texts lose their middle as long
 * as different texts stay different. If this is not enough, more columns are dropped. At last,
 * texts become shorter even if different texts then look alike. */
static int table_fit(struct table *table, const struct doc_node *list, const struct window *window,
                     int indent, struct err *err)
{
    const size_t room = window->columns;
    size_t total = (size_t)indent;
    if (!window->is_bounded)
        return 0;
    for (size_t i = 0; i < table->count; i++)
        if (!table->columns[i].takes_rest)
            total += table->columns[i].columns + (i ? COLUMN_GAP : 0);
    total = leave_out(table, total, room, true);
    if (total > room && find_fewest(table, list, window, err))
        return -1;
    total = shorten(table, total, room, false);
    total = leave_out(table, total, room, false);
    total = shorten(table, total, room, true);
    if (total < room)
        give_rest(table, room - total);
    return 0;
}

/* The widest bar of a cell, in bytes. */
enum { CELL_BYTES = UINT8_MAX * PICTURE_COLUMN_BYTES + 1 };
static const char *cell_text(const struct text_lines *lines, const struct column *column,
                             const struct doc_node *field, char buffer[CELL_BYTES])
{
    if (!column->is_bar)
        return walk_people_value(field, buffer);
    picture_bar(buffer, field->ratio, column->columns, lines->window.has_blocks);
    return buffer;
}

/* Writes one cell. *owed counts the spaces before the next text. The spaces are written together
 * with that text, so that no line ends in spaces. */
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
    char buffer[CELL_BYTES];
    size_t owed = 0;
    const struct doc_node *field = field_from(row->first_child);
    if (!field)
        return;
    text_lines_begin(lines, indent);
    for (size_t i = 0; i < table->count && field; i++, field = field_from(field->next))
        write_table_cell(lines, &table->columns[i],
                         cell_text(lines, &table->columns[i], field, buffer), &owed);
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

/* Writes the parts of a row that are not cells: lists without heading, and notes. */
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
    if (table_fit(&table, list, &lines->window, indent, err))
        goto out;
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

/* --- graphs --- */

/* Draws a graph, but only in a window, because other programs read a file or show it in another
 * width. The highest value is printed on the left. */
static void write_graph(struct text_lines *lines, const struct doc_node *node, int indent)
{
    enum { ROWS = 8, MOST_COLUMNS = 200 };
    const struct doc_column *column = node->column;
    char line[MOST_COLUMNS * PICTURE_COLUMN_BYTES + 1], top[UNITS_TEXT_BYTES];
    struct picture_graph graph = {.values = column->values,
                                  .count = column->count,
                                  .top = 1,
                                  .rows = ROWS,
                                  .has_braille = lines->window.has_blocks};
    for (size_t i = 0; i < column->count; i++)
        graph.top = column->values[i] > graph.top ? column->values[i] : graph.top;
    units_bytes(top, (uint64_t)graph.top);
    const size_t before = (size_t)indent + strlen(top) + COLUMN_GAP;
    if (!lines->window.is_bounded || !column->count || before >= lines->window.columns)
        return;
    graph.columns = lines->window.columns - before;
    graph.columns = graph.columns < MOST_COLUMNS ? graph.columns : MOST_COLUMNS;
    lines->gap = true;
    for (size_t row = 0; row < ROWS; row++) {
        picture_graph_line(line, &graph, row);
        text_lines_begin(lines, indent);
        if (*line || row == 0)
            fprintf(lines->out, "%-*s%s", *line ? (int)(strlen(top) + COLUMN_GAP) : 0,
                    row ? "" : top, line);
        putc('\n', lines->out);
    }
    lines->gap = true;
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

/* Writes an object or list with its heading, between empty lines. */
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
        } else if (child->type == DOC_COLUMN) {
            write_graph(lines, child, indent);
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
