/* SPDX-License-Identifier: MIT */
/* What `check` says; see check.h. */
#include "check.h"

#include <inttypes.h>

#include "parts.h"
#include "analyzer/render/units.h"

enum { GROWN_FRAME_LINES = 6 };

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
