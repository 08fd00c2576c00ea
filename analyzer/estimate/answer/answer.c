/* SPDX-License-Identifier: MIT */
/* See answer.h. */
#include "answer.h"

static int hold_against(struct answer *answer, const struct question *question,
                        const struct footprint *peak, struct err *err)
{
    const struct card *card = answer->card;
    const struct variant asked = variant_of(question);
    answer->needed_bytes = peak->reserved_bytes + card->context_bytes + card->nccl_bytes;
    answer->spare_bytes =
        (int64_t)(card->total_bytes - card->others_bytes) - (int64_t)answer->needed_bytes;
    answer->fits = peak->reserved_bytes <= question->limit_bytes;
    if (largest_batch(&answer->batch, question, &asked, err) ||
        largest_sequence(&answer->sequence, question, &asked, err))
        return -1;
    if (answer->fits)
        return 0;
    if (remedy_find(&answer->remedy, question, peak, err))
        return -1;
    return answer->remedy.count ? 0 : adapters_find(&answer->adapters, question, peak, err);
}

static int peak_with(const struct question *question, enum parallel parallel,
                     struct footprint *peak, struct err *err)
{
    struct variant variant = variant_of(question);
    variant.settings.parallel = parallel;
    return variant_peak(question, &variant, peak, err);
}

static int compare_gpus(struct imbalance *imbalance, const struct question *question,
                        struct err *err)
{
    if (question->settings.parallel != PARALLEL_dp)
        return 0;
    const int others = peak_with(question, PARALLEL_dp_other, &imbalance->others, err);
    const int distributed =
        others > 0 ? peak_with(question, PARALLEL_ddp, &imbalance->distributed, err) : others;
    imbalance->is_known = distributed > 0;
    return distributed < 0 ? -1 : 0;
}

int answer_find(struct answer *answer, const struct question *question, const struct card *card,
                bool tries_all, const struct estimate *estimate, struct err *err)
{
    *answer = (struct answer){.card = card};
    if (card && hold_against(answer, question, &estimate->peak, err))
        return -1;
    if (compare_gpus(&answer->imbalance, question, err))
        return -1;
    return tries_all ? what_if_try(&answer->what_if, question, &estimate->peak, err) : 0;
}
