/* SPDX-License-Identifier: MIT */
/*
 * Writes JSON (RFC 8259). Keys have the order in which they were added. Integers are exact over the
 * whole range of uint64_t, which JSON libraries with signed numbers cannot print. The output is
 * always valid UTF-8. The scalar members of an object share a line, because a row of a table is
 * easiest to read on one line.
 */
#include <inttypes.h>

#include "json.h"

#include "format.h"
#include "walk.h"
#include "analyzer/util/utf8.h"

#define INDENT 2

struct json_writer {
    FILE *out;
    bool is_packed; /* on one line, without blanks: json_packed */
};

static void write_escape(FILE *out, uint32_t code)
{
    switch (code) {
    case '"':
    case '\\':
        fprintf(out, "\\%c", (char)code);
        break;
    case '\n':
        fputs("\\n", out);
        break;
    case '\t':
        fputs("\\t", out);
        break;
    default:
        fprintf(out, "\\u%04" PRIx32, code);
    }
}

/* Uses a string of blanks, because formatting the indentation of millions of lines takes
 * a third of the time. */
static void begin_line(const struct json_writer *json, int indent)
{
    FILE *out = json->out;
    if (json->is_packed)
        return;
    static const char blanks[] = "                                ";
    const int most = sizeof blanks - 1;
    putc_unlocked('\n', out);
    for (; indent > most; indent -= most)
        fwrite_unlocked(blanks, 1, (size_t)most, out);
    fwrite_unlocked(blanks, 1, (size_t)indent, out);
}

/* Writes stretches without escapes at once; a byte that is not UTF-8 becomes U+FFFD. */
void json_quote(FILE *out, const char *string)
{
    const char *clean = string;
    putc_unlocked('"', out);
    while (*string) {
        uint32_t code;
        size_t length = utf8_next(string, &code);
        bool invalid = code == UTF8_REPLACEMENT && length == 1;
        if (invalid || code < 0x20 || code == '"' || code == '\\' || code == 0x7f) {
            fwrite_unlocked(clean, 1, (size_t)(string - clean), out);
            write_escape(out, code);
            clean = string + length;
        }
        string += length;
    }
    fwrite_unlocked(clean, 1, (size_t)(string - clean), out);
    putc_unlocked('"', out);
}

static void write_field(const struct json_writer *json, const struct doc_node *field)
{
    char buffer[UNITS_TEXT_BYTES];
    const char *value = walk_machine_value(field, buffer);
    if (value && field->unit == DOC_TEXT)
        json_quote(json->out, value);
    else
        fputs_unlocked(value ? value : "null", json->out);
}

/* Keys are string literals of the pages and need no escapes. */
static void write_key(const struct json_writer *json, const char *key)
{
    putc_unlocked('"', json->out);
    fputs_unlocked(key, json->out);
    fputs_unlocked(json->is_packed ? "\":" : "\": ", json->out);
}

static void write_values(FILE *out, const struct doc_column *column, bool as_differences)
{
    putc_unlocked('[', out);
    for (size_t i = 0; i < column->count; i++) {
        if (i)
            putc_unlocked(',', out);
        if (column->values[i] == DOC_COLUMN_NULL)
            fputs_unlocked("null", out);
        else
            fprintf(out, "%" PRId64,
                    column->values[i] - (as_differences && i ? column->values[i - 1] : 0));
    }
    putc_unlocked(']', out);
}

static size_t digits_of(int64_t value)
{
    size_t digits = value < 0 ? 2 : 1;
    for (; value <= -10 || value >= 10; value /= 10)
        digits++;
    return digits;
}

/* A reader's floating-point numbers hold integers up to 2^53 exactly. Half of that limit leaves
 * room for differences. */
#define EXACT_MOST (INT64_C(1) << 52)

static bool has_small_differences(const struct doc_column *column)
{
    size_t digits = 0, of_differences = sizeof "{\"\":}" - 1;
    int64_t before = 0;
    for (size_t i = 0; i < column->count; i++) {
        const int64_t value = column->values[i];
        if (value == DOC_COLUMN_NULL || value > EXACT_MOST || value < -EXACT_MOST)
            return false;
        digits += digits_of(value);
        of_differences += digits_of(value - before);
        before = value;
    }
    return of_differences < digits;
}

static void write_column(const struct json_writer *json, const struct doc_column *column)
{
    const bool as_differences = json->is_packed && has_small_differences(column);
    if (as_differences)
        fputs_unlocked("{\"\":", json->out);
    write_values(json->out, column, as_differences);
    if (as_differences)
        putc_unlocked('}', json->out);
}

/* An empty list counts as a scalar: it is written as []. */
static bool is_scalar(const struct doc_node *node)
{
    return node->type == DOC_FIELD || (node->type == DOC_LIST && !node->first_child);
}

static bool has_only_scalars(const struct doc_node *object)
{
    for (const struct doc_node *child = object->first_child; child; child = child->next)
        if (!is_scalar(child))
            return false;
    return true;
}

static void write_node(const struct json_writer *json, const struct doc_node *node, int indent);

static void write_children(const struct json_writer *json, const struct doc_node *node, int indent)
{
    const bool is_list = node->type == DOC_LIST;
    const bool is_line = !is_list && has_only_scalars(node);
    bool shares_line = is_line;
    putc_unlocked(is_list ? '[' : '{', json->out);
    for (const struct doc_node *child = node->first_child; child; child = child->next) {
        if (child != node->first_child)
            putc_unlocked(',', json->out);
        if (!shares_line)
            begin_line(json, indent + INDENT);
        else if (child != node->first_child && !json->is_packed)
            putc_unlocked(' ', json->out);
        if (!is_list)
            write_key(json, child->key);
        write_node(json, child, indent + INDENT);
        shares_line = !is_list && is_scalar(child) && child->next && is_scalar(child->next);
    }
    if (!is_line && node->first_child)
        begin_line(json, indent);
    putc_unlocked(is_list ? ']' : '}', json->out);
}

static void write_node(const struct json_writer *json, const struct doc_node *node, int indent)
{
    if (node->type == DOC_FIELD)
        write_field(json, node);
    else if (node->type == DOC_COLUMN)
        write_column(json, node->column);
    else
        write_children(json, node, indent);
}

int render_json(const struct doc *doc, FILE *out, struct err *err)
{
    (void)err;
    write_node(&(struct json_writer){.out = out}, doc_root(doc), 0);
    putc('\n', out);
    return 0;
}

void json_packed(const struct doc *doc, FILE *out)
{
    write_node(&(struct json_writer){.out = out, .is_packed = true}, doc_root(doc), 0);
}
