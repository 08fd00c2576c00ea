/* SPDX-License-Identifier: MIT */
/*
 * JSON (RFC 8259): keys in the order they were built, integers exact over the whole range of
 * uint64_t (which JSON libraries with signed numbers cannot print), always valid UTF-8.
 */
#include <inttypes.h>

#include "format.h"
#include "walk.h"
#include "analyzer/util/utf8.h"

#define INDENT 2

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

/* Millions of lines: formatting their blanks would take a third of the time. */
static void begin_line(FILE *out, int indent)
{
    static const char blanks[] = "                                ";
    const int most = sizeof blanks - 1;
    putc_unlocked('\n', out);
    for (; indent > most; indent -= most)
        fwrite_unlocked(blanks, 1, (size_t)most, out);
    fwrite_unlocked(blanks, 1, (size_t)indent, out);
}

/* Clean runs are written at once; a byte that is no UTF-8 becomes U+FFFD. */
static void write_string(FILE *out, const char *string)
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

static void write_field(FILE *out, const struct doc_node *field)
{
    char buffer[UNITS_TEXT_BYTES];
    const char *value = walk_machine_value(field, buffer);
    if (value && field->unit == DOC_TEXT)
        write_string(out, value);
    else
        fputs_unlocked(value ? value : "null", out);
}

/* Keys are the pages' own words: nothing in them needs an escape. */
static void write_key(FILE *out, const char *key)
{
    putc_unlocked('"', out);
    fputs_unlocked(key, out);
    fputs_unlocked("\": ", out);
}

static void write_node(FILE *out, const struct doc_node *node, int indent);

static void write_children(FILE *out, const struct doc_node *node, int indent)
{
    const bool is_list = node->type == DOC_LIST;
    putc_unlocked(is_list ? '[' : '{', out);
    for (const struct doc_node *child = node->first_child; child; child = child->next) {
        if (child != node->first_child)
            putc_unlocked(',', out);
        begin_line(out, indent + INDENT);
        if (!is_list)
            write_key(out, child->key);
        write_node(out, child, indent + INDENT);
    }
    if (node->first_child)
        begin_line(out, indent);
    putc_unlocked(is_list ? ']' : '}', out);
}

static void write_node(FILE *out, const struct doc_node *node, int indent)
{
    if (node->type == DOC_FIELD)
        write_field(out, node);
    else
        write_children(out, node, indent);
}

int render_json(const struct doc *doc, FILE *out, struct err *err)
{
    (void)err;
    write_node(out, doc_root(doc), 0);
    putc('\n', out);
    return 0;
}
