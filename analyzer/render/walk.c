/* SPDX-License-Identifier: MIT */
/* Answers questions of formats about a document; see walk.h. */
#include "walk.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

bool walk_is_visible(const struct doc_node *node)
{
    if (node->type == DOC_NOTE || node->type == DOC_FIELD)
        return true;
    if (node->type == DOC_COLUMN) /* visible if it is a graph; else it is for programs only */
        return node->label != NULL;
    for (const struct doc_node *child = node->first_child; child; child = child->next)
        if (walk_is_visible(child))
            return true;
    return false;
}

static bool row_is_line(const struct doc_node *row)
{
    for (const struct doc_node *child = row->first_child; child; child = child->next)
        if (child->type == DOC_OBJECT || (child->type == DOC_LIST && child->label))
            return false;
    return true;
}

bool walk_is_table(const struct doc_node *list)
{
    for (const struct doc_node *row = list->first_child; row; row = row->next)
        if (row->type == DOC_OBJECT && !row_is_line(row))
            return false;
    return true;
}

const char *walk_people_value(const struct doc_node *field, char buffer[UNITS_TEXT_BYTES])
{
    if (field->words)
        return field->words;
    if (field->is_null)
        return "-";
    switch (field->unit) {
    case DOC_TEXT:
        return field->text;
    case DOC_COUNT:
        snprintf(buffer, UNITS_TEXT_BYTES, "%" PRId64, field->integer);
        return buffer;
    case DOC_BYTES:
        return units_bytes(buffer, (uint64_t)field->integer);
    case DOC_DELTA:
        return units_delta(buffer, field->integer);
    case DOC_NS:
        return units_duration(buffer, field->integer);
    case DOC_RATIO:
        return units_ratio(buffer, field->ratio);
    case DOC_ADDRESS:
        snprintf(buffer, UNITS_TEXT_BYTES, "0x%" PRIx64, (uint64_t)field->integer);
        return buffer;
    case DOC_BOOL:
        return field->integer ? "yes" : "no";
    case DOC_BAR: /* the format draws it */
        return "";
    }
    return "-";
}

/* Six digits are enough for a ratio. The decimal point keeps it a real number for typed readers. */
static void write_ratio(char buffer[UNITS_TEXT_BYTES], double ratio)
{
    snprintf(buffer, UNITS_TEXT_BYTES, "%.6g", ratio == 0 ? 0.0 : ratio);
    if (!strpbrk(buffer, ".e"))
        strncat(buffer, ".0", UNITS_TEXT_BYTES - strlen(buffer) - 1);
}

const char *walk_machine_value(const struct doc_node *field, char buffer[UNITS_TEXT_BYTES])
{
    if (field->is_null)
        return NULL;
    switch (field->unit) {
    case DOC_TEXT:
        return field->text;
    case DOC_BYTES:
    case DOC_ADDRESS:
        snprintf(buffer, UNITS_TEXT_BYTES, "%" PRIu64, (uint64_t)field->integer);
        return buffer;
    case DOC_COUNT:
    case DOC_DELTA:
    case DOC_NS:
        snprintf(buffer, UNITS_TEXT_BYTES, "%" PRId64, field->integer);
        return buffer;
    case DOC_RATIO:
        write_ratio(buffer, field->ratio);
        return buffer;
    case DOC_BOOL:
        return field->integer ? "true" : "false";
    case DOC_BAR:
        return NULL;
    }
    return NULL;
}
