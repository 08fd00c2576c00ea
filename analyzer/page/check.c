/* SPDX-License-Identifier: MIT */
/* What `check` says; see check.h. */
#include "check.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "analyzer/render/units.h"
#include "analyzer/util/array.h"

enum { GROWN_FRAME_LINES = 6 };

/* --- the answer --- */

/* How far above its limit, or how near to it. */
static double share_of_limit(const struct check_result *result)
{
    if (!result->limit_bytes)
        return result->measured_bytes ? HUGE_VAL : 1;
    return (double)result->measured_bytes / (double)result->limit_bytes;
}

static const char *next_of(const struct check_result *result)
{
    if (!strcmp(result->kind, "growth"))
        return "leaks";
    if (!strcmp(result->kind, "leak"))
        return "peak --at=end";
    return result->is_of_phase ? "phases" : "peak";
}

int page_check_say(struct opening *opening, const struct check_results *results, size_t first,
                   const struct check_result **worst)
{
    char measured[UNITS_TEXT_BYTES], limit[UNITS_TEXT_BYTES];
    const size_t count = results->count - first;
    size_t broken_count = 0;

    *worst = NULL;
    for (size_t i = first; i < results->count; i++) {
        const struct check_result *result = &results->items[i];
        broken_count += !result->passed;
        if (!*worst || share_of_limit(result) > share_of_limit(*worst))
            *worst = result;
    }
    if (!count)
        return page_say(opening, "Nothing to check: no device was used.");
    if (broken_count)
        page_next(opening, "%s", next_of(*worst));
    units_bytes(measured, (*worst)->measured_bytes);
    units_bytes(limit, (*worst)->limit_bytes);
    if (count == 1)
        return page_say(opening, "%s: %s is %s, the limit is %s.",
                        broken_count ? "The limit is broken" : "The limit holds", (*worst)->subject,
                        measured, limit);
    if (!broken_count)
        return page_say(opening, "All %zu limits hold; nearest to its limit of %s is %s: %s.",
                        count, limit, (*worst)->subject, measured);
    return page_say(opening, "%zu of %zu limits are broken%s %s is %s, the limit is %s.",
                    broken_count, count, broken_count == 1 ? ":" : ", worst:", (*worst)->subject,
                    measured, limit);
}

int page_check_say_grown(struct opening *opening, const struct grown_side *before,
                         const struct grown_side *after, bool has_baseline, struct err *err)
{
    char bytes[UNITS_TEXT_BYTES];
    struct grown grown;
    struct blame blame = {0};
    uint32_t *stacks = NULL;
    int status = -1;

    if (grown_find(&grown, before, after, err))
        return -1;
    stacks = array_new(grown.count, sizeof *stacks, err);
    for (size_t i = 0; stacks && i < grown.count; i++)
        stacks[i] = grown.items[i].stack_id;
    if (!stacks || blame_stacks(&blame, after->study->symbols, stacks, grown.count, err))
        goto out;
    const struct blamed *most = grown.count ? blame_of(&blame, stacks[0]) : NULL;
    status = 0;
    if (most && most->is_known)
        status =
            page_say(opening, "%s %s (%s%s).",
                     has_baseline ? "What grew most since the baseline is by"
                                  : "Most at the peak is held by",
                     most->who, has_baseline ? "+" : "",
                     units_bytes(bytes, grown.items[0].after_bytes - grown.items[0].before_bytes));
    blame_release(&blame);
out:
    free(stacks);
    grown_release(&grown);
    return status;
}

/* --- the tables --- */

static int add_grown_site(struct doc *doc, const struct study *study, const struct view *view,
                          const struct grown_site *site, struct err *err)
{
    doc_integer(doc, "delta_bytes", "Grew by", DOC_DELTA,
                (int64_t)(site->after_bytes - site->before_bytes));
    doc_bytes(doc, "before_bytes", "From", site->before_bytes);
    doc_bytes(doc, "after_bytes", "To", site->after_bytes);
    return page_frames(doc, study, view, site->stack_id, GROWN_FRAME_LINES, err);
}

int page_check_grown(struct doc *doc, const struct grown_side *before,
                     const struct grown_side *after, bool has_baseline, const struct view *view,
                     struct err *err)
{
    struct grown grown;
    int status = 0;

    if (grown_find(&grown, before, after, err))
        return -1;
    const size_t limit = view_limit(view, grown.count);
    doc_list_begin(doc, "grown",
                   has_baseline ? "Call stacks that grew since the baseline"
                                : "Who held it at the peak");
    for (size_t i = 0; i < limit && !status; i++) {
        doc_row_begin(doc_detail_if(doc, !view->top && i >= PAGE_SITES));
        status = add_grown_site(doc, after->study, view, &grown.items[i], err);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    grown_release(&grown);
    return status;
}

static void add_check_result(struct doc *doc, const struct check_result *result)
{
    char measured[UNITS_TEXT_BYTES], limit[UNITS_TEXT_BYTES];

    doc_textf(doc_detail(doc), "name", "Name", "%s: %s", result->trace, result->subject);
    doc_bool(doc, "passed", "Result", result->passed);
    doc_words(doc, "%s", result->passed ? "ok" : "BROKEN");
    doc_text(doc, "subject", "What", result->subject);
    doc_bytes(doc, "measured_bytes", "Measured", result->measured_bytes);
    doc_bytes(doc, "limit_bytes", "Limit", result->limit_bytes);
    doc_textf(doc_detail(doc), "message", "Message",
              "%s is %s (%" PRIu64 " bytes), the limit is %s (%" PRIu64 " bytes)", result->subject,
              units_bytes(measured, result->measured_bytes), result->measured_bytes,
              units_bytes(limit, result->limit_bytes), result->limit_bytes);
    doc_text(doc_detail(doc), "kind", "Kind", result->kind);
    doc_text(doc, "trace", "Trace", result->trace);
    page_device_number(doc_detail(doc), "Device", result->device);
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
