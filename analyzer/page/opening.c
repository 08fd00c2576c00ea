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
    verdict_vsay(&opening->verdict, role, format, arguments);
    va_end(arguments);
    return 1;
}

int page_join(struct opening *opening, enum verdict_role role, const char *format, ...)
{
    enum { CLAUSE_BYTES = 8192 };
    char clause[CLAUSE_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(clause, sizeof clause, format, arguments);
    va_end(arguments);
    verdict_join(&opening->verdict, role, clause);
    return 1;
}

int page_join_clauses(struct opening *opening, enum verdict_role role, char *text)
{
    while (text) {
        char *end = strstr(text, "; ");
        if (end)
            *end = '\0';
        page_join(opening, role, "%s", text);
        text = end ? end + strlen("; ") : NULL;
    }
    return 1;
}

int page_explain(struct opening *opening, page_answer *answer, bool acts, const struct study *study,
                 const struct view *view, struct err *err)
{
    struct opening own = {.err = err};
    const struct verdict *verdict = &own.verdict;
    int status = answer(&own, study, view, err);
    const size_t action = acts ? verdict_find(verdict, VERDICT_do) : SIZE_MAX;
    for (size_t i = 0; i < verdict->texts.count && status >= 0; i++)
        if (verdict->roles[i] == VERDICT_what)
            status = page_say(opening, VERDICT_why, "%s", verdict->texts.items[i]);
    if (action != SIZE_MAX && status >= 0)
        status = page_say(opening, VERDICT_do, "%s", verdict->texts.items[action]);
    opening->verdict.is_incomplete |= verdict->is_incomplete;
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
    return err_set(err, ERR_SYSTEM, "out of memory for the answer");
}

void opening_failure_release(struct opening_failure *failure)
{
    verdict_release(&failure->verdict);
    free(failure->next);
    *failure = (struct opening_failure){0};
}

/* Writes the verdict and the command to run next. */
static int add_next(struct doc *doc, struct opening *opening, const struct study *study,
                    struct opening_failure *failure, struct err *err)
{
    struct text line;
    text_init(&line, 2 * LIMIT_text_bytes);
    text_addf(&line, "gpumemtrace %s", opening->next);
    if (!opening->next_is_whole) {
        text_add(&line, " ");
        text_add_word(&line, study->trace.path);
    }
    verdict_write(doc, &opening->verdict, line.data, opening->next_is_whole);
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
        page_say(&opening, VERDICT_what, "No GPU memory was allocated.");
    }
    if (!status && *opening.next)
        status = add_next(doc, &opening, study, failure, err);
    else
        verdict_write(doc, &opening.verdict, NULL, false);
    verdict_release(&opening.verdict);
    return status;
}
