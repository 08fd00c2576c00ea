/* SPDX-License-Identifier: MIT */
/*
 * Building the document tree; see doc.h. The first error is kept and every later call does nothing,
 * so that a page can describe its result without looking at each call. An object or list that its
 * reader leaves out is kept while it is open, not linked to its parent, so that begins and ends are
 * checked there, too.
 */
#include "doc.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "gpumemtrace/compiler.h"

struct doc {
    struct doc_node *root;
    struct doc_node *current; /* the innermost open object or list */
    struct doc_node *field;   /* the field just added; NULL: it was dropped */
    enum doc_level reads;
    enum doc_level next; /* of the next node, unless it is DOC_BOTH */
    const char *table;   /* key of the list that is the answer's table, or NULL */
    struct err err;      /* ERR_NONE while all is well */
};

static void fail(struct doc *doc, int code, const char *message)
{
    if (doc->err.code == ERR_NONE)
        err_set(&doc->err, code, "%s", message);
}

static void node_append(struct doc_node *parent, struct doc_node *node)
{
    node->parent = parent;
    if (parent->last_child)
        parent->last_child->next = node;
    else
        parent->first_child = node;
    parent->last_child = node;
}

static bool holds_children(enum doc_type type)
{
    return type == DOC_OBJECT || type == DOC_LIST;
}

/* Rows alone have no key; what is for a summary only needs none. */
static void check_key(struct doc *doc, const struct doc_node *node)
{
    const bool is_row = node->parent && node->parent->type == DOC_LIST && node->type == DOC_OBJECT;
    if (!node->key && node->parent && !is_row && doc->reads == DOC_DETAIL)
        fail(doc, ERR_INTERNAL, "the result has a detail without a key");
}

/* NULL: out of memory, after an earlier error, or a field or note that the reader leaves out. */
static struct doc_node *node_new(struct doc *doc, enum doc_type type, const char *key,
                                 const char *label)
{
    const enum doc_level level = doc->next;
    const bool is_dropped = !(level & doc->reads) || (doc->current && doc->current->is_dropped);
    doc->next = DOC_BOTH;
    if (doc->err.code != ERR_NONE || (is_dropped && !holds_children(type)))
        return NULL;
    struct doc_node *node = malloc(sizeof *node);
    if (!node) {
        fail(doc, ERR_SYSTEM, "out of memory for the result");
        return NULL;
    }
    *node = (struct doc_node){.type = type,
                              .level = level,
                              .is_dropped = is_dropped,
                              .key = key,
                              .label = label,
                              .parent = doc->current};
    if (doc->current && !is_dropped) {
        node_append(doc->current, node);
        check_key(doc, node);
    }
    return node;
}

static struct doc_node *field_new(struct doc *doc, const char *key, const char *label,
                                  enum doc_unit unit)
{
    struct doc_node *node = node_new(doc, DOC_FIELD, key, label);
    if (!label)
        fail(doc, ERR_INTERNAL, "the result has a field without a label");
    if (node)
        node->unit = unit;
    doc->field = node;
    return node;
}

struct doc *doc_new(const char *schema, enum doc_level reads)
{
    struct doc *doc = calloc(1, sizeof *doc);
    if (!doc)
        return NULL;
    doc->reads = reads;
    doc->next = DOC_BOTH;
    doc->root = doc->current = node_new(doc, DOC_OBJECT, NULL, NULL);
    doc_text(doc_detail(doc), "schema", "Schema", schema);
    if (doc->err.code == ERR_NONE)
        return doc;
    doc_free(doc);
    return NULL;
}

static void node_free(struct doc_node *node)
{
    free(node->text);
    free(node->words);
    free(node);
}

/* A dropped object or list has no children, and is known to nobody but those open inside it. */
static void drop_current(struct doc *doc)
{
    struct doc_node *parent = doc->current->parent;
    node_free(doc->current);
    doc->current = parent;
}

/* Without recursion: a deep tree must not need a deep stack to die. */
void doc_free(struct doc *doc)
{
    while (doc && doc->current && doc->current->is_dropped)
        drop_current(doc);
    struct doc_node *node = doc ? doc->root : NULL;
    while (node) {
        if (node->first_child) {
            struct doc_node *child = node->first_child;
            node->first_child = NULL;
            node = child;
            continue;
        }
        struct doc_node *after = node->next ? node->next : node->parent;
        node_free(node);
        node = after;
    }
    free(doc);
}

const struct doc_node *doc_root(const struct doc *doc)
{
    return doc->root;
}

void doc_set_table(struct doc *doc, const char *key)
{
    doc->table = key;
}

const char *doc_table(const struct doc *doc)
{
    return doc->table;
}

int doc_check(const struct doc *doc, struct err *err)
{
    if (doc->err.code != ERR_NONE) {
        err_set(err, doc->err.code, "%s", doc->err.message);
        return -1;
    }
    if (doc->current != doc->root) {
        err_set(err, ERR_INTERNAL, "the result has an object or list that was not ended");
        return -1;
    }
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

struct doc *doc_detail_if(struct doc *doc, bool is_detail)
{
    return is_detail ? doc_detail(doc) : doc;
}

bool doc_takes(const struct doc *doc, enum doc_level level)
{
    return doc->err.code == ERR_NONE && !doc->current->is_dropped && (level & doc->reads);
}

/* --- objects and lists --- */

static void begin(struct doc *doc, enum doc_type type, const char *key, const char *heading)
{
    struct doc_node *node = node_new(doc, type, key, heading);
    if (node)
        doc->current = node;
}

/* Objects that are rows stand in a list, other objects do not. */
static void end(struct doc *doc, enum doc_type type, bool is_row)
{
    struct doc_node *node = doc->current;
    if (doc->err.code != ERR_NONE)
        return;
    bool in_list = node->parent && node->parent->type == DOC_LIST;
    if (!node->parent || node->type != type || (type == DOC_OBJECT && in_list != is_row))
        fail(doc, ERR_INTERNAL, "the result has an end that does not match its begin");
    else if (node->is_dropped)
        drop_current(doc);
    else
        doc->current = node->parent;
}

void doc_object_begin(struct doc *doc, const char *key, const char *heading)
{
    if (doc->err.code == ERR_NONE && doc->current->type == DOC_LIST)
        fail(doc, ERR_INTERNAL, "the result has an object in a list that is no row");
    begin(doc, DOC_OBJECT, key, heading);
}

void doc_object_end(struct doc *doc)
{
    end(doc, DOC_OBJECT, false);
}

void doc_list_begin(struct doc *doc, const char *key, const char *heading)
{
    if (doc->err.code == ERR_NONE && doc->current->type == DOC_LIST)
        fail(doc, ERR_INTERNAL, "the result has a list directly in a list");
    begin(doc, DOC_LIST, key, heading);
}

void doc_list_end(struct doc *doc)
{
    end(doc, DOC_LIST, false);
}

void doc_row_begin(struct doc *doc)
{
    if (doc->err.code == ERR_NONE && doc->current->type != DOC_LIST)
        fail(doc, ERR_INTERNAL, "the result has a row outside a list");
    begin(doc, DOC_OBJECT, NULL, NULL);
}

void doc_row_end(struct doc *doc)
{
    end(doc, DOC_OBJECT, true);
}

/* --- fields --- */

static void node_set_text(struct doc *doc, struct doc_node *node, const char *value)
{
    if (!node)
        return;
    node->text = strdup(value);
    if (!node->text)
        fail(doc, ERR_SYSTEM, "out of memory for the result");
}

static char *formatted(struct doc *doc, const char *format, va_list arguments) GMT_PRINTF(2, 0);
static char *formatted(struct doc *doc, const char *format, va_list arguments)
{
    char *text;
    if (vasprintf(&text, format, arguments) >= 0)
        return text;
    fail(doc, ERR_SYSTEM, "out of memory for the result");
    return NULL;
}

void doc_text(struct doc *doc, const char *key, const char *label, const char *value)
{
    if (!value) {
        doc_null(doc, key, label, DOC_TEXT);
        return;
    }
    node_set_text(doc, field_new(doc, key, label, DOC_TEXT), value);
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
    struct doc_node *field = doc->field;
    va_list arguments;
    va_start(arguments, format);
    if (field) {
        free(field->words);
        field->words = formatted(doc, format, arguments);
    }
    va_end(arguments);
}

void doc_note(struct doc *doc, const char *format, ...)
{
    struct doc_node *note = node_new(doc_summary(doc), DOC_NOTE, NULL, NULL);
    va_list arguments;
    va_start(arguments, format);
    if (note)
        note->text = formatted(doc, format, arguments);
    va_end(arguments);
}

void doc_integer(struct doc *doc, const char *key, const char *label, enum doc_unit unit,
                 int64_t value)
{
    struct doc_node *node = field_new(doc, key, label, unit);
    if (node)
        node->integer = value;
    if (unit == DOC_TEXT || unit == DOC_RATIO)
        fail(doc, ERR_INTERNAL, "the result has an integer with the unit of a text or ratio");
}

void doc_bytes(struct doc *doc, const char *key, const char *label, uint64_t value)
{
    doc_integer(doc, key, label, DOC_BYTES, (int64_t)value);
}

void doc_known_bytes(struct doc *doc, const char *key, const char *label, bool known,
                     uint64_t value)
{
    if (known)
        doc_bytes(doc, key, label, value);
    else
        doc_null(doc, key, label, DOC_BYTES);
}

void doc_count(struct doc *doc, const char *key, const char *label, uint64_t value)
{
    if (value > INT64_MAX)
        fail(doc, ERR_INTERNAL, "the result has a count beyond 2^63");
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

void doc_known_ratio(struct doc *doc, const char *key, const char *label, bool known, double value)
{
    doc_ratio(doc, key, label, known ? value : NAN);
}

void doc_bool(struct doc *doc, const char *key, const char *label, bool value)
{
    doc_integer(doc, key, label, DOC_BOOL, value);
}

void doc_null(struct doc *doc, const char *key, const char *label, enum doc_unit unit)
{
    struct doc_node *node = field_new(doc, key, label, unit);
    if (node)
        node->is_null = true;
}
