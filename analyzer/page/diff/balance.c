/* SPDX-License-Identifier: MIT */
/* The balance of one process's devices on a page; see balance.h. */
#include "balance.h"

#include "analyzer/analysis/balance.h"
#include "analyzer/page/parts.h"
#include "analyzer/render/units.h"
#include "rows.h"

int balance_answer(struct opening *opening, const struct study *study, const struct view *view,
                   struct err *err)
{
    struct balance balance;
    char held[PAGE_MORE_BYTES];
    struct more more;
    if (view->device >= 0)
        return 0;
    if (balance_find(&balance, &study->history, err))
        return -1;
    if (!balance_is_apart(&balance))
        return 0;
    if (more_find(&more, study, balance.middle, study, balance.highest, false, err))
        return -1;
    page_say(opening, VERDICT_what, "The devices are not balanced: %s peaks %s above %s%s.",
             DEVICE_TEXT(balance.highest), BYTES_TEXT(balance.highest_bytes - balance.middle_bytes),
             DEVICE_TEXT(balance.middle),
             balance.used_count > 2 ? ", the median of the others" : "");
    page_say(opening, VERDICT_why, "The highest peak is %.2f times the mean.", balance.ratio);
    return *page_more(&more, held) ? page_say(opening, VERDICT_who, "%s.", held) : 1;
}

int balance_add(struct doc *doc, const struct study *study, const struct view *view,
                struct err *err)
{
    struct balance balance;
    struct more more = {0};
    (void)view;
    if (balance_find(&balance, &study->history, err))
        return -1;
    if (balance.used_count < 2)
        return 0;
    if (balance_is_apart(&balance) &&
        more_find(&more, study, balance.middle, study, balance.highest, false, err))
        return -1;
    doc_object_begin(doc_detail(doc), "balance", NULL);
    doc_ratio(doc, "imbalance_ratio", "imbalance", balance.ratio);
    page_device_number(doc, "highest", balance.highest);
    doc_bytes(doc, "peak_bytes", "peak", balance.highest_bytes);
    doc_bytes(doc, "median_of_others_bytes", "median of the others", balance.middle_bytes);
    doc_text(doc, "more_at", "holds more at", *more.site ? more.site : NULL);
    doc_known_bytes(doc, "more_bytes", "more", *more.site != 0, more.bytes);
    doc_text(doc, "file", "file", *more.file ? more.file : NULL);
    doc_known_count(doc, "line", "line", more.line != 0, more.line);
    doc_object_end(doc);
    return 0;
}
