/* SPDX-License-Identifier: MIT */
/* What keeps the blocks of a row alive; see kept_by.h. */
#include "kept_by.h"

#include "words.h"

bool page_has_holders(const struct study *study)
{
    return study->holders.count > 0;
}

int page_kept_find(struct held_sums *kept, const struct study *study, uint32_t account,
                   uint64_t index, struct err *err)
{
    const struct held_ask ask = {
        .account = account,
        .index = index,
        .is_failure =
            history_failure_at(&study->history, study->history.accounts[account].device, index),
        .by_stack = true};
    return held_sums_find(kept, &study->holders, &study->history, &ask, err);
}

void page_kept_by(struct doc *doc, const struct study *study, const struct held_sums *sums,
                  uint32_t stack_id)
{
    char name[HOLDER_TEXT_BYTES], place[HOLDER_TEXT_BYTES];
    if (!sums || !page_has_holders(study))
        return;
    const struct held_sum *sum = held_sums_of_stack(sums, stack_id);
    doc_text(doc_detail(doc), "kept_by", "Kept by",
             sum ? trace_string(&study->trace, sum->holder->chain_id) : NULL);
    doc_known_count(doc_detail(doc), "walk_seq", "Walk after", sum, sum ? sums->at->at.seq : 0);
    doc_list_begin(doc_summary(doc), NULL, NULL);
    if (sum)
        doc_textf(doc, NULL, "", "kept by %s%s", holder_name(name, &study->trace, sum),
                  holder_place(place, &study->trace, sum));
    doc_list_end(doc);
}

void page_kept_note(struct doc *doc, const struct held_sums *sums)
{
    char walk[WALK_TEXT_BYTES], limit[WALK_TEXT_BYTES];
    if (sums && sums->count)
        doc_note(doc, "A walk over Python's objects %s found what keeps the memory.%s",
                 walk_words(walk, sums->at), walk_limit(limit, sums->at));
}
