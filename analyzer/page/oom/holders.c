/* SPDX-License-Identifier: MIT */
/* The variables that kept memory alive when an allocation failed. */
#include "told.h"

#include "analyzer/page/holders/words.h"
#include "analyzer/page/parts.h"
#include "analyzer/render/units.h"

static struct held_ask ask_held(const struct oom *oom)
{
    return (struct held_ask){
        .account = oom->account, .index = oom->failure->at.index, .is_failure = true};
}

int page_oom_add_holders(struct doc *doc, const struct study *study, const struct oom *oom,
                         bool is_last, struct err *err)
{
    const struct page_holder_list list = {.key = is_last ? NULL : "holders",
                                          .heading = is_last ? "Largest holders at the last failure"
                                                             : "Kept by",
                                          .summary_rows = is_last ? OOM_SUMMARY_SITES : 0};
    const struct held_ask ask = ask_held(oom);

    return page_holders(is_last ? doc_summary(doc) : doc_detail(doc), study, &list, &ask, 1, err);
}

/* A holder is worth naming if it keeps at least a quarter of what is live. */
enum { WORTH_NAMING_DIVISOR = 4 };

int page_oom_say_holder(struct opening *opening, const struct study *study, const struct oom *oom,
                        struct err *err)
{
    char name[HOLDER_TEXT_BYTES], place[HOLDER_TEXT_BYTES], bytes[UNITS_TEXT_BYTES];
    const struct held_ask ask = ask_held(oom);
    struct held_sums sums;
    int status = 1;

    if (held_sums_find(&sums, &study->holders, &study->history, &ask, err))
        return -1;
    const struct held_sum *first = sums.count ? &sums.items[0] : NULL;
    if (first && first->holder && first->bytes >= oom->live_bytes / WORTH_NAMING_DIVISOR)
        status = page_join(
            opening, VERDICT_who, "%s is kept by %s%s", units_bytes(bytes, first->bytes),
            holder_name(name, &study->trace, first), holder_place(place, &study->trace, first));
    held_sums_release(&sums);
    return status;
}
