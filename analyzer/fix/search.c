/* SPDX-License-Identifier: MIT */
/*
 * The order in which `fix` tries changes, the cheapest first. Only a
 * change that was run is a remedy.
 *
 *     settings             each that the model does not rule out; the last resort if none fits
 *     one smaller number   1 first, which may rule the number out; then halved until it fits; then
 *                          upwards, between that and the last that did not fit
 *     two changes          a setting, and a number above what fits alone; or two numbers, halved
 *
 * A kind is tried only if the previous kind gave nothing. The exception is a setting beside a
 * smaller number: it is tried because it may let the number be larger.
 */
#include "fix.h"

#include "analyzer/run/run_group.h"
#include "analyzer/util/array.h"

/* Values that differ by less than 1/NEAR_SHARE of the one that fits are not tried separately. */
enum { NEAR_SHARE = 32 };
/* From this value on, 1 is tried first, because halving down to 1 would take four runs or more. */
enum { MANY_HALVES = 16 };

static bool may_go_on(const struct fix *fix)
{
    return !run_group_stopped_by() && !fix->is_out_of_runs;
}

static void keep_remedy(struct fix *fix, size_t run, long refused)
{
    fix->remedies[fix->remedy_count++] = (struct fix_remedy){.run = run, .refused = refused};
}

/* --- settings --- */

static int try_settings(struct fix *fix, bool is_last, struct err *err)
{
    for (int key = 0; key < SETTING_COUNT; key++) {
        const struct fix_setting *setting = &fix->settings[key];
        struct fix_change change = fix_no_change(fix);
        if (!setting->text[0] || setting->is_ruled_out ||
            fix_setting_words((enum fix_setting_key)key)->is_last != is_last)
            continue;
        change.setting = (enum fix_setting_key)key;
        const int fits = fix_try(fix, &change, err);
        if (fits < 0)
            return -1;
        if (fits)
            keep_remedy(fix, fix->count - 1, 0);
    }
    return 0;
}

/* --- one number --- */

/* For one number: the largest value seen to fit, and the smallest above it seen not to fit. */
struct range {
    long fits, refused; /* fits 0: none */
    size_t run;         /* the run of `fits` */
};

/* Tries the change with another value of that number. */
static int try_value(struct fix *fix, struct range *range, const struct fix_change *base,
                     size_t number, long value, struct err *err)
{
    struct fix_change change = *base;
    change.values[number] = value;
    const int fits = fix_try(fix, &change, err);
    if (fits < 0)
        return -1;
    if (fits) {
        range->fits = value;
        range->run = fix->count - 1;
    } else if (may_go_on(fix))
        range->refused = value;
    return 0;
}

static long nearness(long fits)
{
    return fits < NEAR_SHARE ? 1 : fits / NEAR_SHARE;
}

/*
 * Rounds large values down to multiples of 8 if the original is one, because programs divide such
 * numbers, for example a batch by GPUs.
 */
static long round_value(const struct fix *fix, size_t number, long value)
{
    enum { LARGE = 128, EVEN = 8 };
    return value < LARGE || fix->varies[number].value % EVEN ? value : value - value % EVEN;
}

/* Raises the value that fits, by bisection with the one that does not. */
static int raise_value(struct fix *fix, struct range *range, const struct fix_change *base,
                       size_t number, struct err *err)
{
    while (range->fits && range->refused - range->fits > nearness(range->fits) && may_go_on(fix)) {
        const long middle =
            round_value(fix, number, range->fits + (range->refused - range->fits) / 2);
        if (middle == range->fits)
            return 0;
        if (try_value(fix, range, base, number, middle, err))
            return -1;
    }
    return 0;
}

/* Whether the last run lacked memory, and had no other failure. */
static bool lacked_memory(const struct fix *fix)
{
    return fix->runs[fix->count - 1].trial.end == TRIAL_NO_MEMORY;
}

/*
 * Lowers one number until it fits. A large number is tried at 1 first: if
 * that lacks memory, no value fits.
 */
static int lower_value(struct fix *fix, struct range *range, const struct fix_change *base,
                       size_t number, struct err *err)
{
    const long first = base->values[number];
    *range = (struct range){0};
    if (first >= MANY_HALVES && try_value(fix, range, base, number, 1, err))
        return -1;
    range->refused = first;
    if (first >= MANY_HALVES && !range->fits && lacked_memory(fix))
        return 0;
    while (range->refused / 2 > range->fits && range->fits < 2 && may_go_on(fix))
        if (try_value(fix, range, base, number, round_value(fix, number, range->refused / 2), err))
            return -1;
    return raise_value(fix, range, base, number, err);
}

/* --- two changes --- */

/* Tries whether a setting lets the number be larger than what fits alone. */
static int raise_with_setting(struct fix *fix, const struct range *alone, size_t number, int key,
                              struct err *err)
{
    struct fix_change base = fix_no_change(fix);
    const long first = base.values[number];
    struct range range = {.fits = 0, .refused = first};
    const long value = alone->fits ? alone->refused : 1;
    base.setting = (enum fix_setting_key)key;
    if (value >= first)
        return 0; /* with the original value, the change is the setting alone */
    if (try_value(fix, &range, &base, number, value, err))
        return -1;
    if (!range.fits)
        return 0;
    range.refused = first;
    if (raise_value(fix, &range, &base, number, err))
        return -1;
    keep_remedy(fix, range.run, range.refused);
    return 0;
}

static int try_with_settings(struct fix *fix, const struct range *alone, size_t number,
                             struct err *err)
{
    const size_t before = fix->remedy_count;
    for (int key = 0; key < SETTING_COUNT && fix->remedy_count == before && may_go_on(fix); key++)
        if (fix->settings[key].text[0] && !fix_setting_words((enum fix_setting_key)key)->is_last &&
            raise_with_setting(fix, alone, number, key, err))
            return -1;
    return 0;
}

/*
 * Halves both numbers until they fit, unless they do not fit at 1. Then raises each to below twice
 * its value, while the other stays.
 */
static int try_two_numbers(struct fix *fix, size_t a, size_t b, struct err *err)
{
    struct fix_change base = fix_no_change(fix), least = base;
    struct range range = {0};
    least.values[a] = least.values[b] = 1;
    const int fits = fix_try(fix, &least, err);
    const size_t least_run = fix->count - 1;
    if (fits <= 0 && (fits < 0 || !may_go_on(fix) || lacked_memory(fix)))
        return fits;
    while (!range.fits && (base.values[a] > 1 || base.values[b] > 1) && may_go_on(fix)) {
        base.values[a] -= base.values[a] / 2;
        base.values[b] -= base.values[b] / 2;
        if (try_value(fix, &range, &base, a, base.values[a], err))
            return -1;
    }
    if (!range.fits && fits)
        keep_remedy(fix, least_run, 0);
    if (!range.fits)
        return 0;
    range.refused = 2 * range.fits;
    if (raise_value(fix, &range, &base, a, err))
        return -1;
    base = fix->runs[range.run].change;
    struct range other = {.fits = base.values[b], .refused = 2 * base.values[b], .run = range.run};
    if (raise_value(fix, &other, &base, b, err))
        return -1;
    keep_remedy(fix, other.run, 0);
    return 0;
}

/* --- all of it --- */

static int try_numbers(struct fix *fix, struct err *err)
{
    struct range ranges[FIX_VARIES_MAX];
    const struct fix_change base = fix_no_change(fix);
    for (size_t i = 0; i < fix->vary_count && may_go_on(fix); i++) {
        if (lower_value(fix, &ranges[i], &base, i, err))
            return -1;
        if (ranges[i].fits)
            keep_remedy(fix, ranges[i].run, ranges[i].refused);
        if (may_go_on(fix) && try_with_settings(fix, &ranges[i], i, err))
            return -1;
    }
    for (size_t i = 0; i < fix->vary_count && !fix->remedy_count; i++)
        for (size_t j = i + 1; j < fix->vary_count && !fix->remedy_count && may_go_on(fix); j++)
            if (try_two_numbers(fix, i, j, err))
                return -1;
    return 0;
}

int fix_search(struct fix *fix, struct err *err)
{
    const struct fix_change nothing = fix_no_change(fix);
    const int fits = fix_try(fix, &nothing, err);
    if (fits < 0)
        return -1;
    if (!fix->count || fix->runs[0].trial.end != TRIAL_NO_MEMORY)
        return 0;
    if (fix->runs[0].trial.trace[0] &&
        fix_settings_find(fix->settings, fix->runs[0].trial.trace, err))
        return -1;
    if (try_settings(fix, false, err))
        return -1;
    if (!fix->remedy_count && try_numbers(fix, err))
        return -1;
    return fix->remedy_count ? 0 : try_settings(fix, true, err);
}
