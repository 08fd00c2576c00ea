/* SPDX-License-Identifier: MIT */
/* The variables that kept memory alive when an allocation failed. */
#include "told.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/page/holders/words.h"
#include "analyzer/page/parts.h"
#include "analyzer/remedy/remedies.h"
#include "analyzer/render/units.h"
#include "analyzer/thresholds/thresholds.h"

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

/* May most of what the holder keeps be of earlier batches? If not, the holder may be what the
 * program needs, as its model, or the graph of this batch. */
static bool is_held_over(const struct study *study, const struct oom *oom,
                         const struct held_sum *holder)
{
    const struct remedies *remedies = study->remedies;
    for (size_t i = 0; remedies && remedies->account == oom->account && i < remedies->count; i++)
        if (remedies->items[i].key == REMEDY_held_over)
            return remedies->items[i].gain_bytes >= holder->bytes / 2;
    return false;
}

/* Finds the variable that keeps most, if it has a name and is worth naming. A list that a
 * comprehension is still building has none. Returns 1 if it found one, 0 if not, -1 if there is no
 * memory. */
static int find_largest(struct held_sum *largest, const struct study *study, const struct oom *oom,
                        struct err *err)
{
    const struct held_ask ask = ask_held(oom);
    struct held_sums sums;
    if (held_sums_find(&sums, &study->holders, &study->history, &ask, err))
        return -1;
    *largest = held_sums_variable(&study->trace, &sums);
    held_sums_release(&sums);
    return held_is_named(&study->trace, largest->holder) &&
           largest->bytes >= oom->live_bytes / WORTH_NAMING_DIVISOR;
}

/* Returns 1 if another variable than `holder` keeps most of what the stack made, 0 if not or if it
 * is unknown, -1 if there is no memory. */
static int is_of_other(const struct study *study, struct held_ask ask, uint32_t stack_id,
                       const struct held_sum *holder, struct err *err)
{
    struct held_sums sums;
    ask.by_stack = true;
    if (!stack_id)
        return 0;
    if (held_sums_find(&sums, &study->holders, &study->history, &ask, err))
        return -1;
    const struct held_sum *named = held_sums_of_stack(&sums, stack_id);
    const bool is_other = named && !held_sum_leads_to(&study->trace, holder, named->holder);
    held_sums_release(&sums);
    return is_other;
}

int page_oom_say_holder(struct opening *opening, const struct study *study, const struct oom *oom,
                        uint32_t named_stack_id, struct err *err)
{
    char name[HOLDER_TEXT_BYTES], place[HOLDER_TEXT_BYTES];
    struct held_sum largest;
    const int found = find_largest(&largest, study, oom, err);
    if (found <= 0)
        return found ? -1 : 1;
    const int is_other = is_of_other(study, ask_held(oom), named_stack_id, &largest, err);
    if (is_other < 0)
        return -1;
    return page_join(opening, VERDICT_who, "%s%s is kept by %s%s", is_other ? "another " : "",
                     largest.bytes == oom->live_bytes ? "all of it" : BYTES_TEXT(largest.bytes),
                     holder_name(name, &study->trace, &largest),
                     holder_place(place, &study->trace, &largest));
}

/* The change of the program that helps first; NULL: it is not known. */
static const char *first_action(const struct study *study, const struct oom *oom,
                                const struct held_sum *holder)
{
    const struct remedies *remedies = study->remedies;
    if (holder && (is_held_over(study, oom, holder) || holder_is_garbage(holder)))
        return holder_action(holder);
    return remedies && remedies->account == oom->account && remedies->asked.grows &&
                   remedies->asked.replaced_bytes > oom->live_bytes / KEPT_DIVISOR
               ? "Give the block its final size at once, or keep its parts in host memory."
               : NULL;
}

int page_oom_say_remedies(struct opening *opening, const struct study *study, const struct oom *oom,
                          struct err *err)
{
    enum { LEAD_BYTES = 512 };
    char lead[LEAD_BYTES] = "";
    struct held_sum largest;
    int status = 1;

    if (opening->failure_is_of_leak) /* its action was said */
        return page_remedies_say(opening, study, ~0U, lead, err);
    const int found = find_largest(&largest, study, oom, err);
    const char *action = first_action(study, oom, found > 0 ? &largest : NULL);
    if (action && !(study->remedies && study->remedies->count))
        status = page_say(opening, VERDICT_do, "%s", action);
    else if (action)
        snprintf(lead, sizeof lead, "%.*s; ", (int)strlen(action) - 1, action);
    return found < 0 || status < 0 || page_remedies_say(opening, study, ~0U, lead, err) < 0
               ? -1
               : page_oom_say_model(opening, study, oom);
}
