/* SPDX-License-Identifier: MIT */
/* Tries techniques; see what_if.h. */
#include "what_if.h"

#include "analyzer/util/array.h"
#include "largest.h"

static int64_t saved(const struct footprint *now, const struct footprint *then)
{
    return (int64_t)now->requested_bytes - (int64_t)then->requested_bytes;
}

ORDER_BY(by_saving, struct saving, FALLING(saved_bytes), RISING(technique));

int what_if_try(struct what_if *what_if, const struct question *question,
                const struct footprint *now, struct err *err)
{
    *what_if = (struct what_if){0};
    for (int i = 0; i < TECHNIQUE_COUNT; i++) {
        struct saving *saving = &what_if->items[what_if->count];
        struct variant variant = variant_of(question);
        *saving = (struct saving){.technique = (enum technique)i};
        if (!technique_change(saving->technique, &variant, saving->how))
            continue;
        const int status = variant_peak(question, &variant, &saving->peak, err);
        if (status < 0)
            return -1;
        saving->saved_bytes = status ? saved(now, &saving->peak) : 0;
        what_if->count += (size_t)status;
    }
    SORT(what_if->items, what_if->count, by_saving);
    return 0;
}

/* --- remedies --- */

/* Applies one more technique to the variant. TECHNIQUE_batch sets the largest batch with which the
 * variant fits. 1: the variant fits. */
static int try_remedy(const struct question *question, struct variant *variant,
                      struct saving *saving, bool is_last, struct err *err)
{
    if (!technique_change(saving->technique, variant, saving->how))
        return 0;
    if (!is_last)
        return 1;
    if (saving->technique == TECHNIQUE_batch) {
        struct largest largest;
        if (largest_batch(&largest, question, variant, err))
            return -1;
        if (largest.value == 0)
            return 0;
        technique_batch(variant, largest.value, saving->how);
    }
    return variant_fits(question, variant, &saving->peak, err);
}

/*
 * Tries these techniques together, in this order. The batch must be the last one, because its size
 * depends on the other techniques.
 */
static int try_remedies(struct remedy *remedy, const struct question *question,
                        const struct footprint *now, const enum technique *techniques, size_t count,
                        struct err *err)
{
    struct variant variant = variant_of(question);
    int status = 1;
    *remedy = (struct remedy){0};
    for (size_t i = 0; i < count && status > 0; i++) {
        struct saving *saving = &remedy->items[i];
        saving->technique = techniques[i];
        status = try_remedy(question, &variant, saving, i + 1 == count, err);
        saving->saved_bytes = saved(now, &saving->peak);
    }
    remedy->count = status > 0 ? count : 0;
    return status;
}

static bool is_remedy(int technique)
{
    return technique_row((enum technique)technique)->use == TECHNIQUE_REMEDY;
}

static int try_pair(struct remedy *remedy, const struct question *question,
                    const struct footprint *now, int first, int second, struct err *err)
{
    const bool swaps = first == TECHNIQUE_batch;
    const enum technique pair[] = {(enum technique)(swaps ? second : first),
                                   (enum technique)(swaps ? first : second)};
    return try_remedies(remedy, question, now, pair, 2, err);
}

int remedy_find(struct remedy *remedy, const struct question *question, const struct footprint *now,
                struct err *err)
{
    int status = 0;
    *remedy = (struct remedy){0};
    for (int i = 0; i < TECHNIQUE_COUNT && !status; i++) {
        const enum technique one = (enum technique)i;
        if (is_remedy(i))
            status = try_remedies(remedy, question, now, &one, 1, err);
    }
    for (int second = 1; second < TECHNIQUE_COUNT && !status; second++)
        for (int first = 0; first < second && !status; first++)
            if (is_remedy(first) && is_remedy(second))
                status = try_pair(remedy, question, now, first, second, err);
    return status < 0 ? -1 : 0;
}

int adapters_find(struct remedy *adapters, const struct question *question,
                  const struct footprint *now, struct err *err)
{
    static const enum technique techniques[] = {TECHNIQUE_lora, TECHNIQUE_qlora};
    int status = 0;
    *adapters = (struct remedy){0};
    for (size_t i = 0; i < sizeof techniques / sizeof *techniques && !status; i++)
        status = try_remedies(adapters, question, now, &techniques[i], 1, err);
    return status < 0 ? -1 : 0;
}
