/* SPDX-License-Identifier: MIT */
/* The opening of a page; see opening.h. */
#include "opening.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/clock.h"
#include "analyzer/util/text.h"
#include "gpumemtrace/limits.h"

int page_say(struct opening *opening, enum verdict_role role, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    const int status = verdict_vsay(&opening->verdict, opening->err, role, format, arguments);
    va_end(arguments);
    return status ? -1 : 1;
}

int page_join(struct opening *opening, enum verdict_role role, const char *format, ...)
{
    enum { CLAUSE_BYTES = 8192 };
    char clause[CLAUSE_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(clause, sizeof clause, format, arguments);
    va_end(arguments);
    return verdict_join(&opening->verdict, opening->err, role, clause) ? -1 : 1;
}

int page_join_clauses(struct opening *opening, enum verdict_role role, char *text)
{
    int status = 1;

    while (text && status > 0) {
        char *end = strstr(text, "; ");
        if (end)
            *end = '\0';
        status = page_join(opening, role, "%s", text);
        text = end ? end + strlen("; ") : NULL;
    }
    return status;
}

int page_explain(struct opening *opening, page_answer *answer, const struct study *study,
                 const struct view *view, struct err *err)
{
    struct opening own = {.err = err};
    const struct verdict *verdict = &own.verdict;
    int status = answer(&own, study, view, err);

    for (size_t i = 0; i < verdict->texts.count && status >= 0; i++)
        if (verdict->roles[i] == VERDICT_what)
            status = page_say(opening, VERDICT_why, "%s", verdict->texts.items[i]);
    verdict_release(&own.verdict);
    return status;
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

/* Moves the verdict into *into, unless nothing failed. */
static int keep_failure(struct opening_failure *into, struct opening *opening,
                        const struct study *study, const char *next, struct err *err)
{
    const struct trace_integer *start = &study->trace.meta.start_unix_ns;
    const struct history *history = &study->history;

    if (!into || !opening->failure)
        return 0;
    *into =
        (struct opening_failure){.kind = oom_kind_of(history, opening->failure),
                                 .device = history->accounts[opening->failure->account].device,
                                 .unix_ns = clock_after_ns(start->known ? start->value : 0,
                                                           (int64_t)opening->failure->at.time_ns),
                                 .verdict = opening->verdict,
                                 .next = strdup(next)};
    opening->verdict = (struct verdict){0};
    if (into->next)
        return 0;
    err_set(err, ERR_SYSTEM, "out of memory for the answer");
    return -1;
}

void opening_failure_release(struct opening_failure *failure)
{
    verdict_release(&failure->verdict);
    free(failure->next);
    *failure = (struct opening_failure){0};
}

/* Adds the command to run next, and below it the sentences that are not in the verdict. */
static int add_next(struct doc *doc, struct opening *opening, const struct study *study,
                    struct opening_failure *failure, struct err *err)
{
    const char *next = opening->next;
    struct text line;

    if (!*next) {
        doc_null(doc_detail(doc), "next", "Next", DOC_TEXT);
        verdict_write_more(doc, &opening->verdict);
        return 0;
    }
    text_init(&line, 2 * LIMIT_text_bytes);
    text_addf(&line, "gpumemtrace %s", next);
    if (!opening->next_is_whole) {
        text_add(&line, " ");
        text_add_word(&line, study->trace.path);
    }
    doc_text(doc_detail(doc), "next", "Next", line.data);
    if (opening->next_is_whole)
        doc_line(doc, "Next: %s", line.data);
    else
        doc_note(doc, "Next: %s", line.data);
    verdict_write_more(doc, &opening->verdict);
    int status = text_failed(&line) ? -1 : 0;
    if (status)
        err_set(err, ERR_SYSTEM, "out of memory for the answer");
    else
        status = keep_failure(failure, opening, study, line.data, err);
    text_release(&line);
    return status;
}

int opening_add(struct doc *doc, page_answer *answer, const struct study *study,
                const struct view *view, struct opening_failure *failure, struct err *err)
{
    struct opening opening = {.err = err};
    int status = 0;

    if (answer)
        status = answer(&opening, study, view, err) < 0 ? -1 : 0;
    if (answer && !status && !opening.verdict.texts.count) {
        opening.next[0] = '\0';
        status = page_say(&opening, VERDICT_what, "No GPU memory was allocated.") < 0 ? -1 : 0;
    }
    verdict_write(doc, &opening.verdict);
    if (!status)
        status = add_next(doc, &opening, study, failure, err);
    verdict_release(&opening.verdict);
    return status;
}
