/* SPDX-License-Identifier: MIT */
/*
 * The order in which `fix` tries changes, the cheapest first. A change is a remedy only if a run
 * was made with it.
 *
 *     settings             each setting that the model does not rule out; the last resort if no
 *                          other fits
 *     one smaller number   1 is tried first, because it may rule the number out. Afterwards the
 *                         number is halved until the program fits, and raised towards the last
 *                         value that did not fit
 *     both                 a setting, together with a number above the largest that fits alone
 *
 * A kind of change is tried only if the previous kind gave no remedy. One exception: a setting is
 * tried beside a smaller number, because the number may then be larger.
 */
#include "fix.h"

#include "analyzer/run/run_group.h"
#include "analyzer/util/array.h"
#include "analyzer/thresholds/thresholds.h"

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
        const struct fix_change change = {.setting = (enum fix_setting_key)key};
        if (!setting->text[0] || setting->is_ruled_out ||
            fix_setting_words((enum fix_setting_key)key)->is_last != is_last)
            continue;
        const int fits = fix_try(fix, &change, err);
        if (fits < 0)
            return -1;
        if (fits)
            keep_remedy(fix, fix->count - 1, 0);
    }
    return 0;
}

/* --- one number --- */

/*
 * The largest value of one number that was seen to fit, and the smallest larger value that was seen
 * not to fit. The number is changed alone or beside one setting.
 */
struct range {
    size_t number; /* index in fix->varies */
    enum fix_setting_key setting;
    long fits, refused; /* fits is 0 if no value fits */
    size_t run;         /* the run with the value `fits` */
};

static int try_value(struct fix *fix, struct range *range, long value, struct err *err)
{
    const struct fix_change change = {range->setting, range->number, value};
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
    return fits < NEAR_DIVISOR ? 1 : fits / NEAR_DIVISOR;
}

/*
 * Rounds a large value down to a multiple of 8 if the original value is a multiple of 8, because
 * programs divide such numbers, for example a batch by the number of GPUs.
 */
static long round_value(const struct fix *fix, size_t number, long value)
{
    enum { LARGE = 128, EVEN = 8 };
    return value < LARGE || fix->varies[number].value % EVEN ? value : value - value % EVEN;
}

/* Raises the value that fits, by bisection between it and the value that does not fit. */
static int raise_value(struct fix *fix, struct range *range, struct err *err)
{
    while (range->fits && range->refused - range->fits > nearness(range->fits) && may_go_on(fix)) {
        const long middle =
            round_value(fix, range->number, range->fits + (range->refused - range->fits) / 2);
        if (middle == range->fits)
            return 0;
        if (try_value(fix, range, middle, err))
            return -1;
    }
    return 0;
}

/* True if the last run lacked memory and had no other failure. */
static bool lacked_memory(const struct fix *fix)
{
    return fix->runs[fix->count - 1].trial.end == TRIAL_NO_MEMORY;
}

/*
 * Lowers one number until the program fits. A large number is tried at 1 first: if the run with 1
 * lacks memory, no value fits.
 */
static int lower_value(struct fix *fix, struct range *range, struct err *err)
{
    const long first = fix->varies[range->number].value;
    if (first >= MANY_HALVES && try_value(fix, range, 1, err))
        return -1;
    range->refused = first;
    if (first >= MANY_HALVES && !range->fits && lacked_memory(fix))
        return 0;
    while (range->refused / 2 > range->fits && range->fits < 2 && may_go_on(fix))
        if (try_value(fix, range, round_value(fix, range->number, range->refused / 2), err))
            return -1;
    return raise_value(fix, range, err);
}

/* --- a setting and a number --- */

/* Tries a setting together with a number that is larger than the largest that fits alone. */
static int raise_with_setting(struct fix *fix, const struct range *alone,
                              enum fix_setting_key setting, struct err *err)
{
    const long first = fix->varies[alone->number].value;
    const long value = alone->fits ? alone->refused : 1;
    struct range range = {.number = alone->number, .setting = setting};
    if (value >= first)
        return 0; /* a change to the original value is the setting alone */
    if (try_value(fix, &range, value, err))
        return -1;
    if (!range.fits)
        return 0;
    range.refused = first;
    if (raise_value(fix, &range, err))
        return -1;
    keep_remedy(fix, range.run, range.refused);
    return 0;
}

static int try_with_settings(struct fix *fix, const struct range *alone, struct err *err)
{
    const size_t before = fix->remedy_count;
    for (int key = 0; key < SETTING_COUNT && fix->remedy_count == before && may_go_on(fix); key++)
        if (fix->settings[key].text[0] && !fix_setting_words((enum fix_setting_key)key)->is_last &&
            raise_with_setting(fix, alone, (enum fix_setting_key)key, err))
            return -1;
    return 0;
}

/* --- the whole search --- */

static int try_numbers(struct fix *fix, struct err *err)
{
    for (size_t i = 0; i < fix->vary_count && may_go_on(fix); i++) {
        struct range alone = {.number = i, .setting = SETTING_NONE};
        if (lower_value(fix, &alone, err))
            return -1;
        if (alone.fits)
            keep_remedy(fix, alone.run, alone.refused);
        if (may_go_on(fix) && try_with_settings(fix, &alone, err))
            return -1;
    }
    return 0;
}

int fix_search(struct fix *fix, struct err *err)
{
    const struct fix_change nothing = {.setting = SETTING_NONE};
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
