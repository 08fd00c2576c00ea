/* SPDX-License-Identifier: MIT */
/*
 * Builds the document tree; see doc.h. The first error is kept, and every later call does nothing.
 * So a page can describe its result without checking each call. An object or list that the format
 * does not read is also pushed on the stack of open nodes, so that its begin and end are checked.
 */
#include "doc.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "gpumemtrace/compiler.h"
#include "analyzer/util/arena.h"
#include "analyzer/util/array.h"
#include "analyzer/util/text_set.h"
#include "shared_rows.h"

/* An object or list that has not ended yet. */
struct open_node {
    struct doc_node *node; /* NULL: dropped, because the format does not read it */
    struct doc_node *last_child;
    enum doc_type type;
    bool holds_fields_only;
};

struct doc {
    struct arena nodes;
    struct text_set texts;
    struct shared_rows rows;
    struct open_node *open; /* stack of open nodes, the root first */
    size_t depth, depth_capacity;
    struct doc_node *field; /* the field added last; NULL: it was dropped */
    enum doc_level reads;
    enum doc_level next; /* level of the next node; DOC_BOTH: not marked */
    bool next_is_spare;
    const char *columns; /* header line of that table, or NULL */
    const char *table;   /* key of the list that is the answer's table, or NULL */
    struct err err;      /* ERR_NONE until the first error */
};

void doc_fail(struct doc *doc, int code, const char *message)
{
    if (doc->err.code == ERR_NONE)
        err_set(&doc->err, code, "%s", message);
}

static struct open_node *innermost(const struct doc *doc)
{
    return &doc->open[doc->depth - 1];
}

static bool is_dropped(const struct doc *doc, enum doc_level level)
{
    return !(level & doc->reads) || (doc->depth && !innermost(doc)->node);
}

/* Only rows, and nodes for a summary, may lack a key. */
static void check_key(struct doc *doc, const struct doc_node *node)
{
    const bool is_row = innermost(doc)->type == DOC_LIST && node->type == DOC_OBJECT;
    if (!node->key && !is_row && !(doc->reads & DOC_SUMMARY))
        doc_fail(doc, ERR_INTERNAL, "the result has a detail without a key");
}

static void node_append(struct doc *doc, struct doc_node *node)
{
    struct open_node *parent = innermost(doc);
    if (parent->last_child)
        parent->last_child->next = node;
    else
        parent->node->first_child = node;
    parent->last_child = node;
    parent->holds_fields_only &= node->type == DOC_FIELD;
    check_key(doc, node);
}

/* Returns NULL if the format does not read the node, if there was an earlier error, or if memory is
 * exhausted. */
static struct doc_node *node_new(struct doc *doc, enum doc_type type, const char *key,
                                 const char *label)
{
    const enum doc_level level = doc->next;
    const bool dropped = is_dropped(doc, level), is_spare = doc->next_is_spare;
    doc->next = DOC_BOTH;
    doc->next_is_spare = false;
    if (doc->err.code != ERR_NONE || dropped)
        return NULL;
    struct doc_node *node = arena_take(&doc->nodes, sizeof *node);
    if (!node) {
        doc_fail(doc, ERR_SYSTEM, "out of memory for the result");
        return NULL;
    }
    memset(node, 0, sizeof *node);
    node->type = (uint8_t)type;
    node->level = (uint8_t)level;
    node->is_spare = is_spare;
    node->key = key;
    node->label = label;
    if (doc->depth)
        node_append(doc, node);
    return node;
}

static struct doc_node *field_new(struct doc *doc, const char *key, const char *label,
                                  enum doc_unit unit)
{
    struct doc_node *node = node_new(doc, DOC_FIELD, key, label);
    if (!label)
        doc_fail(doc, ERR_INTERNAL, "the result has a field without a label");
    if (node)
        node->unit = (uint8_t)unit;
    doc->field = node;
    return node;
}

static void begin(struct doc *doc, enum doc_type type, const char *key, const char *heading)
{
    if (ARRAY_GROW(doc->open, doc->depth_capacity, doc->depth, NULL)) {
        doc_fail(doc, ERR_SYSTEM, "out of memory for the result");
        return;
    }
    struct doc_node *node = node_new(doc, type, key, heading);
    if (doc->err.code == ERR_NONE)
        doc->open[doc->depth++] =
            (struct open_node){.node = node, .type = type, .holds_fields_only = true};
}

struct doc *doc_new(const char *schema, enum doc_level reads)
{
    struct doc *doc = calloc(1, sizeof *doc);
    if (!doc)
        return NULL;
    doc->reads = reads;
    doc->next = DOC_BOTH;
    begin(doc, DOC_OBJECT, NULL, NULL);
    if (doc->depth)
        doc_text(doc_detail(doc), "schema", "Schema", schema);
    if (doc->err.code == ERR_NONE)
        return doc;
    doc_free(doc);
    return NULL;
}

void doc_free(struct doc *doc)
{
    if (!doc)
        return;
    arena_release(&doc->nodes);
    text_set_release(&doc->texts);
    shared_rows_release(&doc->rows);
    free(doc->open);
    free(doc);
}

const struct doc_node *doc_root(const struct doc *doc)
{
    return doc->open[0].node;
}

void doc_set_table(struct doc *doc, const char *key)
{
    doc->table = key;
}

void doc_set_columns(struct doc *doc, const char *columns)
{
    doc->columns = columns;
}

const char *doc_columns(const struct doc *doc)
{
    return doc->columns;
}

const char *doc_table(const struct doc *doc)
{
    return doc->table;
}

int doc_check(const struct doc *doc, struct err *err)
{
    if (doc->err.code != ERR_NONE)
        return err_set(err, doc->err.code, "%s", doc->err.message);
    if (doc->depth != 1)
        return err_set(err, ERR_INTERNAL, "the result has an object or list that was not ended");
    return 0;
}

/* --- levels --- */

struct doc *doc_detail(struct doc *doc)
{
    doc->next = DOC_DETAIL;
    return doc;
}

struct doc *doc_summary(struct doc *doc)
{
    doc->next = DOC_SUMMARY;
    return doc;
}

struct doc *doc_frames(struct doc *doc)
{
    doc->next = DOC_FRAMES;
    return doc;
}

struct doc *doc_series(struct doc *doc)
{
    doc->next = DOC_SERIES;
    return doc;
}

struct doc *doc_detail_if(struct doc *doc, bool is_detail)
{
    return is_detail ? doc_detail(doc) : doc;
}

struct doc *doc_spare(struct doc *doc)
{
    doc->next_is_spare = true;
    return doc;
}

bool doc_takes(const struct doc *doc, enum doc_level level)
{
    return doc->err.code == ERR_NONE && !is_dropped(doc, level);
}

/* --- objects and lists --- */

/* Replaces the row's fields by those of an earlier equal row, and frees their memory. */
static void share_fields(struct doc *doc, const struct open_node *row)
{
    const struct doc_node *fields = row->node->first_child;
    const struct doc_node *shared = shared_rows_find(&doc->rows, fields);
    if (!shared)
        doc_fail(doc, ERR_SYSTEM, "out of memory for the result");
    else if (shared != fields)
        arena_give_back(&doc->nodes, fields);
    row->node->first_child = shared;
}

/* Ends the innermost open node. Fails unless it has this type. An object in a list must be a row,
 * and a row must be in a list. */
static void end(struct doc *doc, enum doc_type type, bool is_row)
{
    if (doc->err.code != ERR_NONE)
        return;
    const struct open_node *ended = innermost(doc);
    const bool in_list = doc->depth > 1 && ended[-1].type == DOC_LIST;
    if (doc->depth == 1 || ended->type != type || (type == DOC_OBJECT && in_list != is_row)) {
        doc_fail(doc, ERR_INTERNAL, "the result has an end that does not match its begin");
        return;
    }
    doc->field = NULL;
    if (is_row && ended->last_child && ended->holds_fields_only)
        share_fields(doc, ended);
    doc->depth--;
}

void doc_object_begin(struct doc *doc, const char *key, const char *heading)
{
    if (doc->err.code == ERR_NONE && innermost(doc)->type == DOC_LIST)
        doc_fail(doc, ERR_INTERNAL, "the result has an object in a list that is no row");
    begin(doc, DOC_OBJECT, key, heading);
}

void doc_object_end(struct doc *doc)
{
    end(doc, DOC_OBJECT, false);
}

void doc_list_begin(struct doc *doc, const char *key, const char *heading)
{
    if (doc->err.code == ERR_NONE && innermost(doc)->type == DOC_LIST)
        doc_fail(doc, ERR_INTERNAL, "the result has a list directly in a list");
    begin(doc, DOC_LIST, key, heading);
}

const struct doc_node *doc_list_end(struct doc *doc)
{
    const struct doc_node *list = doc->err.code == ERR_NONE ? innermost(doc)->node : NULL;
    end(doc, DOC_LIST, false);
    return list;
}

void doc_row_begin(struct doc *doc)
{
    if (doc->err.code == ERR_NONE && innermost(doc)->type != DOC_LIST)
        doc_fail(doc, ERR_INTERNAL, "the result has a row outside a list");
    begin(doc, DOC_OBJECT, NULL, NULL);
}

void doc_row_end(struct doc *doc)
{
    end(doc, DOC_OBJECT, true);
}

/* --- order --- */

struct doc_node *doc_last(const struct doc *doc)
{
    return doc->err.code == ERR_NONE ? innermost(doc)->last_child : NULL;
}

static const struct doc_node **next_of(const struct open_node *parent, struct doc_node *child)
{
    return child ? &child->next : &parent->node->first_child;
}

/*
 * Moves the nodes after `last` up behind `above`:
 *
 *     above ─► a ─► b ─► last ─► x ─► y      becomes      above ─► x ─► y ─► a ─► b ─► last
 */
void doc_move_up(struct doc *doc, struct doc_node *last, struct doc_node *above)
{
    struct open_node *parent = innermost(doc);
    if (doc->err.code != ERR_NONE || !parent->node || last == above || parent->last_child == last)
        return;
    const struct doc_node *passed = *next_of(parent, above);
    *next_of(parent, above) = last->next;
    parent->last_child->next = passed;
    last->next = NULL;
    parent->last_child = last;
}

/* --- fields --- */

static const char *keep_text(struct doc *doc, const char *value)
{
    const uint32_t number = text_set_add(&doc->texts, value, &doc->err);
    return number == TEXT_SET_NONE ? "" : doc->texts.texts[number];
}

static const char *formatted(struct doc *doc, const char *format, va_list arguments)
    GMT_PRINTF(2, 0);
static const char *formatted(struct doc *doc, const char *format, va_list arguments)
{
    char *text;
    if (vasprintf(&text, format, arguments) < 0) {
        doc_fail(doc, ERR_SYSTEM, "out of memory for the result");
        return "";
    }
    const char *kept = keep_text(doc, text);
    free(text);
    return kept;
}

void doc_text(struct doc *doc, const char *key, const char *label, const char *value)
{
    if (!value) {
        doc_null(doc, key, label, DOC_TEXT);
        return;
    }
    struct doc_node *field = field_new(doc, key, label, DOC_TEXT);
    if (field)
        field->text = keep_text(doc, value);
}

void doc_textf(struct doc *doc, const char *key, const char *label, const char *format, ...)
{
    struct doc_node *field = field_new(doc, key, label, DOC_TEXT);
    va_list arguments;
    va_start(arguments, format);
    if (field)
        field->text = formatted(doc, format, arguments);
    va_end(arguments);
}

void doc_words(struct doc *doc, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (doc->field)
        doc->field->words = formatted(doc, format, arguments);
    va_end(arguments);
}

static void add_note(struct doc *doc, bool is_whole, const char *format, va_list arguments)
{
    struct doc_node *note = node_new(doc_summary(doc), DOC_NOTE, NULL, NULL);
    if (!note)
        return;
    note->is_whole = is_whole;
    note->text = formatted(doc, format, arguments);
}

void doc_note(struct doc *doc, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_note(doc, false, format, arguments);
    va_end(arguments);
}

void doc_line(struct doc *doc, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_note(doc, true, format, arguments);
    va_end(arguments);
}

void doc_integer(struct doc *doc, const char *key, const char *label, enum doc_unit unit,
                 int64_t value)
{
    struct doc_node *node = field_new(doc, key, label, unit);
    if (node)
        node->integer = value;
    if (unit == DOC_TEXT || unit == DOC_RATIO || unit == DOC_BAR)
        doc_fail(doc, ERR_INTERNAL, "the result has an integer with the unit of a text or ratio");
}

void doc_known_integer(struct doc *doc, const char *key, const char *label, enum doc_unit unit,
                       bool known, int64_t value)
{
    if (known)
        doc_integer(doc, key, label, unit, value);
    else
        doc_null(doc, key, label, unit);
}

void doc_bytes(struct doc *doc, const char *key, const char *label, uint64_t value)
{
    doc_integer(doc, key, label, DOC_BYTES, (int64_t)value);
}

void doc_known_bytes(struct doc *doc, const char *key, const char *label, bool known,
                     uint64_t value)
{
    doc_known_integer(doc, key, label, DOC_BYTES, known, (int64_t)value);
}

void doc_count(struct doc *doc, const char *key, const char *label, uint64_t value)
{
    if (value > INT64_MAX)
        doc_fail(doc, ERR_INTERNAL, "the result has a count beyond 2^63");
    doc_integer(doc, key, label, DOC_COUNT, (int64_t)value);
}

void doc_known_count(struct doc *doc, const char *key, const char *label, bool known,
                     uint64_t value)
{
    if (known)
        doc_count(doc, key, label, value);
    else
        doc_null(doc, key, label, DOC_COUNT);
}

void doc_ratio(struct doc *doc, const char *key, const char *label, double value)
{
    struct doc_node *node = field_new(doc, key, label, DOC_RATIO);
    if (!node)
        return;
    node->ratio = value;
    node->is_null = !isfinite(value);
}

void doc_bar(struct doc *doc, double share, uint8_t columns)
{
    struct doc_node *node = field_new(doc_summary(doc), NULL, "", DOC_BAR);
    if (!node)
        return;
    node->ratio = share;
    node->bar_columns = columns;
}

void doc_known_ratio(struct doc *doc, const char *key, const char *label, bool known, double value)
{
    doc_ratio(doc, key, label, known ? value : NAN);
}

void doc_bool(struct doc *doc, const char *key, const char *label, bool value)
{
    doc_integer(doc, key, label, DOC_BOOL, value);
}

void doc_known_bool(struct doc *doc, const char *key, const char *label, bool known, bool value)
{
    doc_known_integer(doc, key, label, DOC_BOOL, known, value);
}

void doc_null(struct doc *doc, const char *key, const char *label, enum doc_unit unit)
{
    struct doc_node *node = field_new(doc, key, label, unit);
    if (node)
        node->is_null = true;
}

static int64_t *add_column(struct doc *doc, const char *key, const char *label, enum doc_unit unit,
                           size_t count)
{
    struct doc_node *node = node_new(doc, DOC_COLUMN, key, label);
    if (!node)
        return NULL;
    struct doc_column *column =
        arena_take(&doc->nodes, sizeof *column + count * sizeof *column->values);
    if (!column) {
        doc_fail(doc, ERR_SYSTEM, "out of memory for the result");
        return NULL;
    }
    *column = (struct doc_column){.count = count};
    node->unit = (uint8_t)unit;
    node->column = column;
    return column->values;
}

int64_t *doc_column(struct doc *doc, const char *key, enum doc_unit unit, size_t count)
{
    return add_column(doc, key, NULL, unit, count);
}

int64_t *doc_graph(struct doc *doc, enum doc_unit unit, size_t count)
{
    return add_column(doc_summary(doc), NULL, "", unit, count);
}
