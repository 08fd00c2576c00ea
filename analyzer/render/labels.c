/* SPDX-License-Identifier: MIT */
/* Collects the labels of a document's keys; see labels.h. */
#include "labels.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "analyzer/util/array.h"
#include "analyzer/util/text_set.h"

struct labels {
    struct text_set keys; /* "sites_at_peak.bytes" */
    const char **texts;   /* label by number of the key; NULL: the key has several labels */
    size_t capacity;
    struct err *err;
};

static int add_label(struct labels *labels, const char *parent, const struct doc_node *node)
{
    enum { KEYS_BYTES = 256 };
    char keys[KEYS_BYTES];
    const size_t count = labels->keys.count;

    if (!node->key || !node->label || !*node->label)
        return 0;
    snprintf(keys, sizeof keys, "%s.%s", parent, node->key);
    const uint32_t number = text_set_add(&labels->keys, keys, labels->err);
    if (number == TEXT_SET_NONE)
        return -1;
    if (number < count) {
        const char *known = labels->texts[number];
        if (known && strcmp(known, node->label) != 0)
            labels->texts[number] = NULL;
        return 0;
    }
    if (ARRAY_GROW(labels->texts, labels->capacity, count, labels->err))
        return -1;
    labels->texts[number] = node->label;
    return 0;
}

static int add_labels(struct labels *labels, const char *parent, const struct doc_node *node)
{
    for (const struct doc_node *child = node->first_child; child; child = child->next) {
        if (child->level == DOC_SERIES)
            continue;
        if (add_label(labels, parent, child))
            return -1;
        if ((child->type == DOC_OBJECT || child->type == DOC_LIST) &&
            add_labels(labels, child->key ? child->key : parent, child))
            return -1;
    }
    return 0;
}

int labels_write(const struct doc *doc, FILE *out, struct err *err)
{
    struct labels labels = {.err = err};
    const int status = add_labels(&labels, "", doc_root(doc));
    const char *before = "{";

    for (size_t i = 0; i < labels.keys.count && !status; i++) {
        if (!labels.texts[i])
            continue;
        fputs(before, out);
        json_quote(out, labels.keys.texts[i]);
        putc(':', out);
        json_quote(out, labels.texts[i]);
        before = ",";
    }
    fputs(*before == '{' ? "{}" : "}", out);
    free(labels.texts);
    text_set_release(&labels.keys);
    return status;
}
