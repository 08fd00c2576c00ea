/* SPDX-License-Identifier: MIT */
/* What a page opens with; see opening.h. */
#include "opening.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/util/text.h"
#include "gpumemtrace/limits.h"

int page_say(struct opening *opening, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    const int status = text_list_vadd(&opening->sentences, opening->err, format, arguments);
    va_end(arguments);
    return status ? -1 : 1;
}

void page_next(struct opening *opening, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(opening->next, sizeof opening->next, format, arguments);
    va_end(arguments);
}

bool page_next_whole(struct opening *opening, const char *line)
{
    if (strlen(line) >= sizeof opening->next)
        return false;
    snprintf(opening->next, sizeof opening->next, "%s", line);
    opening->next_is_whole = true;
    return true;
}

/* --- into the document --- */

static void add_sentences(struct doc *doc, const struct text_list *sentences)
{
    doc_list_begin(doc, "answer", NULL);
    for (size_t i = 0; i < sentences->count; i++)
        doc_text(doc, "sentence", "", sentences->items[i]);
    doc_list_end(doc);
}

static int add_next(struct doc *doc, const struct opening *opening, const char *trace_path,
                    struct err *err)
{
    const char *next = opening->next;
    struct text line;

    if (!*next) {
        doc_null(doc_detail(doc), "next", "Next", DOC_TEXT);
        return 0;
    }
    text_init(&line, 2 * LIMIT_text_bytes);
    text_addf(&line, "gpumemtrace %s", next);
    if (!opening->next_is_whole) {
        text_add(&line, " ");
        text_add_word(&line, trace_path);
    }
    doc_text(doc_detail(doc), "next", "Next", line.data);
    if (opening->next_is_whole)
        doc_line(doc, "Next: %s", line.data);
    else
        doc_note(doc, "Next: %s", line.data);
    const bool failed = text_failed(&line);
    text_release(&line);
    if (failed)
        err_set(err, ERR_SYSTEM, "out of memory for the answer");
    return failed ? -1 : 0;
}

int opening_add(struct doc *doc, page_answer *answer, const struct study *study,
                const struct view *view, struct err *err)
{
    struct opening opening = {.err = err};
    int status = 0;

    if (answer)
        status = answer(&opening, study, view, err) < 0 ? -1 : 0;
    if (answer && !status && !opening.sentences.count) {
        opening.next[0] = '\0';
        status = page_say(&opening, "No GPU memory was allocated.") < 0 ? -1 : 0;
    }
    add_sentences(doc, &opening.sentences);
    if (!status)
        status = add_next(doc, &opening, study->trace.path, err);
    text_list_release(&opening.sentences);
    return status;
}
