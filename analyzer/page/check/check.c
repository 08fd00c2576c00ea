/* SPDX-License-Identifier: MIT */
/* The verdict and the results of `check`; see check.h. */
#include "check.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/page/parts.h"
#include "analyzer/render/units.h"

enum { FIGURE_BYTES = 2 * UNITS_TEXT_BYTES, TAIL_BYTES = 2 * FIGURE_BYTES + 32 };

/* Writes the value or the limit of a result, for example "30.00 MiB", "3" or "12.3 %". */
static const char *figure(char text[FIGURE_BYTES], const struct check_result *result, bool limit)
{
    const uint64_t number = limit ? result->limit_bytes : result->measured_bytes;
    if (result->unit == CHECK_RATIO)
        return units_ratio(text, limit ? result->limit_ratio : result->measured_ratio);
    if (result->unit == CHECK_BYTES)
        return units_bytes(text, number);
    snprintf(text, FIGURE_BYTES, "%" PRIu64, number);
    return text;
}

/* --- the answer --- */

/* Returns the measured value as a multiple of its limit. */
static double share_of_limit(const struct check_result *result)
{
    if (result->unit == CHECK_RATIO)
        return result->limit_ratio > 0      ? result->measured_ratio / result->limit_ratio
               : result->measured_ratio > 0 ? HUGE_VAL
                                            : 1;
    if (!result->limit_bytes)
        return result->measured_bytes ? HUGE_VAL : 1;
    return (double)result->measured_bytes / (double)result->limit_bytes;
}

static const char *next_of(const struct check_result *result)
{
    static const char *const nexts[][2] = {
        {"growth", "leaks"}, {"fragmentation", "frag"}, {"retries", "oom"}, {"failures", "oom"}};
    for (size_t i = 0; i < sizeof nexts / sizeof *nexts; i++)
        if (!strcmp(result->kind, nexts[i][0]))
            return nexts[i][1];
    if (!strcmp(result->kind, "leak"))
        return "peak --at=end";
    return result->is_of_phase ? "phases" : "peak";
}

/* Writes what the limit is about, without its base. */
static void say_subject(char text[VERDICT_NAME_BYTES], const struct check_result *result)
{
    const size_t base = result->base ? strlen(CHECK_AGAINST) + strlen(result->base) : 0;
    snprintf(text, VERDICT_NAME_BYTES, "%.*s", (int)(strlen(result->subject) - base),
             result->subject);
}

/* Writes the end of the sentence: the value and its limit. Few characters are left if the sentence
 * tells of several limits. */
static void say_figures(char text[TAIL_BYTES], const struct check_result *result, bool is_brief)
{
    char measured[FIGURE_BYTES], limit[FIGURE_BYTES];
    figure(measured, result, false);
    figure(limit, result, true);
    if (result->base && !is_brief)
        snprintf(text, TAIL_BYTES, " is %s, %s allows %s.", measured, result->base, limit);
    else
        snprintf(text, TAIL_BYTES, " is %s, %s %s.", measured, is_brief ? "limit" : "the limit is",
                 limit);
}

int page_check_say(struct opening *opening, const struct check_results *results, size_t first,
                   struct check_result **worst)
{
    char head[96], subject[VERDICT_NAME_BYTES], tail[TAIL_BYTES];
    const size_t count = results->count - first;
    size_t broken_count = 0;
    *worst = NULL;
    for (size_t i = first; i < results->count; i++) {
        struct check_result *result = &results->items[i];
        broken_count += !result->passed;
        if (!*worst || share_of_limit(result) > share_of_limit(*worst))
            *worst = result;
    }
    if (!count)
        return page_say(opening, VERDICT_what,
                        "No limit is broken, because no figure was compared with one.");
    if (broken_count)
        page_next(opening, "%s", next_of(*worst));
    if (count == 1)
        snprintf(head, sizeof head, "The limit %s:", broken_count ? "is broken" : "holds");
    else if (!broken_count)
        snprintf(head, sizeof head, "All %zu limits hold, nearest:", count);
    else
        snprintf(head, sizeof head, "%zu of %zu limits are broken%s", broken_count, count,
                 broken_count == 1 ? ":" : ", worst:");
    say_subject(subject, *worst);
    say_figures(tail, *worst, count > 1 && broken_count != 1);
    return page_say(opening, VERDICT_what, "%s %s%s", head,
                    FIT_TEXT(subject, VERDICT_WHAT_CHARACTERS - strlen(head) - strlen(tail) - 1),
                    tail);
}

/* --- the tables --- */

static void add_message(struct doc *doc, const struct check_result *result)
{
    char measured[FIGURE_BYTES], limit[FIGURE_BYTES];
    const char *by = result->label ? "; most by " : "", *label = result->label ? result->label : "";
    figure(measured, result, false);
    figure(limit, result, true);
    if (result->unit == CHECK_BYTES)
        doc_textf(doc_detail(doc), "message", "Message",
                  "%s is %s (%" PRIu64 " bytes), the limit is %s (%" PRIu64 " bytes)%s%s",
                  result->subject, measured, result->measured_bytes, limit, result->limit_bytes, by,
                  label);
    else
        doc_textf(doc_detail(doc), "message", "Message", "%s: %s, the limit is %s%s%s",
                  result->subject, measured, limit, by, label);
}

static void add_figures(struct doc *doc, const struct check_result *result)
{
    const bool is_bytes = result->unit == CHECK_BYTES, is_ratio = result->unit == CHECK_RATIO;
    char text[FIGURE_BYTES];
    doc_known_bytes(doc, "measured_bytes", "Measured", is_bytes, result->measured_bytes);
    doc_words(doc, "%s", figure(text, result, false));
    doc_known_bytes(doc, "limit_bytes", "Limit", is_bytes, result->limit_bytes);
    doc_words(doc, "%s", figure(text, result, true));
    doc_known_count(doc_detail(doc), "measured_count", "Measured", result->unit == CHECK_COUNT,
                    result->measured_bytes);
    doc_known_count(doc_detail(doc), "limit_count", "Limit", result->unit == CHECK_COUNT,
                    result->limit_bytes);
    doc_known_ratio(doc_detail(doc), "measured_ratio", "Measured", is_ratio,
                    result->measured_ratio);
    doc_known_ratio(doc_detail(doc), "limit_ratio", "Limit", is_ratio, result->limit_ratio);
}

static void add_check_result(struct doc *doc, const struct check_result *result)
{
    doc_textf(doc_detail(doc), "name", "Name", "%s: %s", result->trace, result->subject);
    doc_bool(doc, "passed", "Result", result->passed);
    doc_words(doc, "%s", result->passed ? "ok" : "BROKEN");
    doc_text(doc, "subject", "What", result->subject);
    add_figures(doc, result);
    add_message(doc, result);
    doc_text(doc_detail(doc), "kind", "Kind", result->kind);
    doc_text(doc, "trace", "Trace", result->trace);
    page_device_number(doc_detail(doc), "Device", result->device);
    doc_text(doc_detail(doc), "site", "Site", result->label);
    doc_text(doc_detail(doc), "file", "File", result->file);
    doc_known_count(doc_detail(doc), "line", "Line", result->line != 0, result->line);
}

void page_check_results(struct doc *doc, const struct check_results *results)
{
    doc_bool(doc_detail(doc), "passed", "passed", check_all_passed(results));
    doc_list_begin(doc, "checks", "Checks");
    for (size_t i = 0; i < results->count; i++) {
        doc_row_begin(doc);
        add_check_result(doc, &results->items[i]);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}
