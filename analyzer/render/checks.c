/* SPDX-License-Identifier: MIT */
/* The rows of the list "checks"; see checks.h. */
#include "checks.h"

#include <string.h>

static const struct doc_node *child_find(const struct doc_node *node, enum doc_type type,
                                         const char *key)
{
    for (const struct doc_node *child = node->first_child; child; child = child->next)
        if (child->type == type && !strcmp(child->key, key))
            return child;
    return NULL;
}

int checks_find(struct checks *checks, const struct doc *doc, const char *format, struct err *err)
{
    const struct doc_node *list = child_find(doc_root(doc), DOC_LIST, "checks");
    if (!list)
        return err_set(err, ERR_USAGE, "the format %s is for the command check", format);
    *checks = (struct checks){.first = list->first_child};
    for (const struct doc_node *row = checks->first; row; row = row->next) {
        checks->count += row->type == DOC_OBJECT;
        checks->broken_count += row->type == DOC_OBJECT && !checks_passed(row);
    }
    return 0;
}

const char *checks_text(const struct doc_node *row, const char *key)
{
    const struct doc_node *field = child_find(row, DOC_FIELD, key);
    return field && !field->is_null && field->text ? field->text : "";
}

bool checks_passed(const struct doc_node *row)
{
    const struct doc_node *field = child_find(row, DOC_FIELD, "passed");
    return field && !field->is_null && field->integer;
}

int64_t checks_line(const struct doc_node *row)
{
    const struct doc_node *field = child_find(row, DOC_FIELD, "line");
    return field && !field->is_null ? field->integer : 0;
}
