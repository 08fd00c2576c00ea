/* SPDX-License-Identifier: MIT */
/* Finds the largest value by bisection between values that fit and values that do not; see
 * largest.h. */
#include "largest.h"

enum { SCANS_MOST = 64 };

struct search {
    const struct question *question;
    const struct variant *variant;
    void (*apply)(struct variant *variant, uint64_t value);
    uint64_t most; /* the highest value allowed */
    /* only the requested bytes must be within the limit, not those of the segments */
    bool is_requested;
};

static void apply_batch(struct variant *variant, uint64_t value)
{
    variant->settings.batch = value;
}

static void apply_sequence(struct variant *variant, uint64_t value)
{
    variant_set(variant, "sequence", value);
}

static void apply_sequences(struct variant *variant, uint64_t value)
{
    variant->tuning.sequences = value;
}

static void apply_tokens(struct variant *variant, uint64_t value)
{
    variant->tuning.kv_cache = value;
}

static int value_fits(const struct search *search, uint64_t value, struct err *err)
{
    struct variant variant = *search->variant;
    struct footprint peak = {0};
    if (value == 0 || value > search->most)
        return value == 0;
    search->apply(&variant, value);
    const int status = variant_peak(search->question, &variant, &peak, err);
    const uint64_t bytes = search->is_requested ? peak.requested_bytes : peak.reserved_bytes;
    return status > 0 ? bytes <= search->question->limit_bytes : status;
}

/* Starts at `from` and doubles or halves the value until *works fits and *fails, which is higher,
 * does not. */
static int bracket(const struct search *search, uint64_t from, uint64_t *works, uint64_t *fails,
                   struct err *err)
{
    int fits = value_fits(search, from, err);
    *works = *fails = from;
    while (fits > 0) {
        *works = *fails;
        if (*works == search->most)
            *fails = search->most + 1;
        else
            *fails = *works > search->most / 2 ? search->most : *works * 2;
        fits = value_fits(search, *fails, err);
    }
    while (fits == 0 && *works == *fails) {
        *works = *fails / 2;
        const int below = value_fits(search, *works, err);
        if (below < 0)
            return -1;
        if (below == 0)
            *fails = *works;
    }
    return fits;
}

static int bisect(const struct search *search, uint64_t *works, uint64_t fails, struct err *err)
{
    while (fails - *works > 1) {
        const uint64_t middle = *works + (fails - *works) / 2;
        const int fits = value_fits(search, middle, err);
        if (fits < 0)
            return -1;
        *(fits ? works : &fails) = middle;
    }
    return 0;
}

/*
 * Finds the highest value above *works, up to `most`, that fits. Tries all values, or at
 * most SCANS_MOST at even distances.
 */
static int scan(const struct search *search, uint64_t *works, uint64_t most, struct err *err)
{
    const uint64_t least = *works, step = (most - least) / SCANS_MOST + 1;
    uint64_t value = most;
    int fits = 0;
    while (value > least && (fits = value_fits(search, value, err)) == 0)
        value = value - least > step ? value - step : least;
    if (fits < 0)
        return -1;
    *works = value;
    for (uint64_t above = 1; above < step && value + above <= most; above++) {
        if ((fits = value_fits(search, value + above, err)) < 0)
            return -1;
        *works = fits ? value + above : *works;
    }
    return 0;
}

static int find(struct largest *largest, const struct search *search, uint64_t from,
                struct err *err)
{
    struct search bound = *search;
    uint64_t works, fails, most;
    if (bracket(search, from, &works, &fails, err) || bisect(search, &works, fails, err))
        return -1;
    bound.is_requested = true;
    if (bracket(&bound, works ? works : 1, &most, &fails, err) ||
        bisect(&bound, &most, fails, err) || scan(search, &works, most, err))
        return -1;
    *largest =
        (struct largest){.is_known = true, .value = works, .is_the_most = works == search->most};
    return 0;
}

int largest_batch(struct largest *largest, const struct question *question,
                  const struct variant *variant, struct err *err)
{
    const struct tuning *tuning = &variant->tuning;
    const bool serves = tuning->kv_cache > 0;
    const struct search search = {question, variant, serves ? apply_sequences : apply_batch,
                                  FIELD_MOST, false};
    return find(largest, &search,
                serves && tuning->sequences ? tuning->sequences : variant->settings.batch, err);
}

int largest_sequence(struct largest *largest, const struct question *question,
                     const struct variant *variant, struct err *err)
{
    const struct model_sizes *sizes = &question->model->sizes;
    const uint64_t most = sizes->positions > sizes->sequence ? sizes->positions : sizes->sequence;
    const uint64_t tokens = variant->tuning.kv_cache;
    const struct search search = {question, variant, tokens ? apply_tokens : apply_sequence,
                                  most > tokens ? most : tokens, false};
    *largest = (struct largest){0};
    if (tokens)
        return find(largest, &search, tokens, err);
    return sizes->sequence ? find(largest, &search, sizes->sequence, err) : 0;
}
