/* SPDX-License-Identifier: MIT */
/* The verdict of a page; see verdict.h. */
#include "verdict.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"
#include "analyzer/util/utf8.h"

static const struct {
    const char *key, *label;
} roles[] = {
    [VERDICT_what] = {"what", NULL}, /* the first sentence needs no label */
    [VERDICT_why] = {"why", "Why"},
    [VERDICT_who] = {"who", "Who"},
    [VERDICT_do] = {"do", "Do"},
};

void verdict_vsay(struct verdict *verdict, enum verdict_role role, const char *format,
                  va_list arguments)
{
    if (ARRAY_GROW(verdict->roles, verdict->capacity, verdict->texts.count, NULL)) {
        verdict->is_incomplete = true;
        return;
    }
    verdict->roles[verdict->texts.count] = role;
    if (text_list_vadd(&verdict->texts, NULL, format, arguments))
        verdict->is_incomplete = true;
}

void verdict_say(struct verdict *verdict, enum verdict_role role, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    verdict_vsay(verdict, role, format, arguments);
    va_end(arguments);
}

void verdict_release(struct verdict *verdict)
{
    text_list_release(&verdict->texts);
    free(verdict->roles);
    *verdict = (struct verdict){0};
}

/* Returns the sentence that a clause of this role is added to. SIZE_MAX: there is none. */
static size_t find_open(const struct verdict *verdict, enum verdict_role role)
{
    size_t found = SIZE_MAX;
    for (size_t i = verdict->texts.count; i--;) {
        if (verdict->roles[i] == role)
            found = i;
        if (verdict->roles[i] == VERDICT_what)
            break;
    }
    return found == SIZE_MAX || strchr(verdict->texts.items[found], ';') ? SIZE_MAX : found;
}

void verdict_join(struct verdict *verdict, enum verdict_role role, const char *clause)
{
    const size_t i = find_open(verdict, role);
    char *joined = NULL;
    if (i == SIZE_MAX) {
        verdict_say(verdict, role, "%c%s.", toupper((unsigned char)*clause), clause + 1);
        return;
    }
    const char *sentence = verdict->texts.items[i];
    if (asprintf(&joined, "%.*s; %s.", (int)strlen(sentence) - 1, sentence, clause) < 0) {
        verdict->is_incomplete = true;
        return;
    }
    free(verdict->texts.items[i]);
    verdict->texts.items[i] = joined;
}

const char *verdict_fit(char out[VERDICT_NAME_BYTES], const char *name, size_t characters)
{
    const char *colon = strrchr(name, ':');
    const size_t line_length = colon && isdigit((unsigned char)colon[1])
                                   ? (size_t)(colon - name) + 1 + strspn(colon + 1, "0123456789")
                                   : 1;
    size_t most = characters ? characters - 1 : 0;
    if (utf8_text_columns(name) <= characters)
        return name;
    most = most > line_length ? most : line_length;
    most = most < VERDICT_NAME_BYTES - 4 ? most : VERDICT_NAME_BYTES - 4;
    snprintf(out, VERDICT_NAME_BYTES, "%.*s%s", (int)utf8_cut_length(name, most), name,
             most == line_length ? "" : "…");
    return out;
}

size_t verdict_find(const struct verdict *verdict, enum verdict_role role)
{
    for (size_t i = 0; i < verdict->texts.count; i++) {
        if (i && verdict->roles[i] == VERDICT_what)
            break;
        if (verdict->roles[i] == role)
            return i;
    }
    return SIZE_MAX;
}

/* --- into the document --- */

/* Adds "Why: …" as a line of a list of texts. */
static void add_line(struct doc *doc, const struct verdict *verdict, size_t i)
{
    const char *label = roles[verdict->roles[i]].label, *text = verdict->texts.items[i];
    doc_text(doc, roles[verdict->roles[i]].key, "", text);
    if (label)
        doc_words(doc, "%s: %s", label, text);
}

static void add_row(struct doc *doc, const struct verdict *verdict, size_t i)
{
    doc_row_begin(doc);
    doc_text(doc, "role", "Role", roles[verdict->roles[i]].key);
    doc_text(doc, "text", "Text", verdict->texts.items[i]);
    doc_row_end(doc);
}

typedef void add_sentence(struct doc *doc, const struct verdict *verdict, size_t i);

static void add_first(struct doc *doc, const struct verdict *verdict, add_sentence *add)
{
    for (int role = 0; role < VERDICT_ROLES; role++) {
        const size_t first = verdict_find(verdict, (enum verdict_role)role);
        if (first != SIZE_MAX)
            add(doc, verdict, first);
    }
}

static void add_others(struct doc *doc, const struct verdict *verdict, add_sentence *add)
{
    for (size_t i = 0; i < verdict->texts.count; i++)
        if (i != verdict_find(verdict, verdict->roles[i]))
            add(doc, verdict, i);
}

static void write_first(struct doc *doc, const struct verdict *verdict)
{
    if (verdict->is_incomplete)
        doc_fail(doc, ERR_SYSTEM, "out of memory for the answer");
    doc_list_begin(doc, "answer", NULL);
    add_first(doc, verdict, add_line);
    doc_list_end(doc);
    doc_list_begin(doc_detail(doc), "verdict", NULL);
    add_first(doc, verdict, add_row);
    doc_list_end(doc);
}

static void write_more(struct doc *doc, const struct verdict *verdict)
{
    doc_list_begin(doc_detail(doc), "more", NULL);
    add_others(doc, verdict, add_row);
    doc_list_end(doc);
    doc_list_begin(doc_summary(doc), "more", NULL);
    add_others(doc, verdict, add_line);
    doc_list_end(doc);
}

void verdict_write(struct doc *doc, const struct verdict *verdict, const char *next,
                   bool next_is_whole)
{
    write_first(doc, verdict);
    doc_text(doc_detail(doc), "next", "Next", next);
    if (next && next_is_whole)
        doc_line(doc, "Next: %s", next);
    else if (next)
        doc_note(doc, "Next: %s", next);
    write_more(doc, verdict);
}

void verdict_finish(struct doc *doc, struct verdict *verdict)
{
    write_first(doc, verdict);
    write_more(doc, verdict);
    verdict_release(verdict);
}
