/* SPDX-License-Identifier: MIT */
/* The verdict of a page; see verdict.h. */
#include "verdict.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

static const struct {
    const char *key, *label;
} roles[] = {
    [VERDICT_what] = {"what", NULL}, /* the first sentence needs no label */
    [VERDICT_why] = {"why", "Why"},
    [VERDICT_who] = {"who", "Who"},
    [VERDICT_do] = {"do", "Do"},
};

int verdict_vsay(struct verdict *verdict, struct err *err, enum verdict_role role,
                 const char *format, va_list arguments)
{
    enum verdict_role *grown =
        array_grow(verdict->roles, &verdict->capacity, verdict->texts.count, sizeof *grown, err);

    if (!grown)
        return -1;
    verdict->roles = grown;
    grown[verdict->texts.count] = role;
    return text_list_vadd(&verdict->texts, err, format, arguments);
}

int verdict_say(struct verdict *verdict, struct err *err, enum verdict_role role,
                const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    const int status = verdict_vsay(verdict, err, role, format, arguments);
    va_end(arguments);
    return status;
}

void verdict_release(struct verdict *verdict)
{
    text_list_release(&verdict->texts);
    free(verdict->roles);
    *verdict = (struct verdict){0};
}

/* --- into the document --- */

void verdict_begin(struct doc *doc)
{
    doc_list_begin(doc, "answer", NULL);
}

/* A text in a list has no key in any format, so the key can keep the role for verdict_end. */
void verdict_add(struct doc *doc, enum verdict_role role, const char *format, ...)
{
    const char *label = roles[role].label;
    va_list arguments;

    va_start(arguments, format);
    doc_vtextf(doc, roles[role].key, "", format, arguments);
    va_end(arguments);
    const struct doc_node *said = doc_last(doc);
    if (label && said && said->text)
        doc_words(doc, "%s: %s", label, said->text);
}

void verdict_end(struct doc *doc)
{
    const struct doc_node *answer = doc_list_end(doc);

    doc_list_begin(doc_detail(doc), "verdict", NULL);
    for (const struct doc_node *one = answer ? answer->first_child : NULL; one; one = one->next) {
        doc_row_begin(doc);
        doc_text(doc, "role", "Role", one->key);
        doc_text(doc, "text", "Text", one->text);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

void verdict_write(struct doc *doc, const struct verdict *verdict)
{
    verdict_begin(doc);
    for (size_t i = 0; i < verdict->texts.count; i++)
        verdict_add(doc, verdict->roles[i], "%s", verdict->texts.items[i]);
    verdict_end(doc);
}
