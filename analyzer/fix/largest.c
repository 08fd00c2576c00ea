/* SPDX-License-Identifier: MIT */
/* Searches the largest value that fits; see largest.h. */
#include "largest.h"

#include "analyzer/run/run_group.h"

long largest_value(const struct fix *fix, size_t run)
{
    return fix->runs[run].change.value;
}

static bool may_go_on(const struct fix *fix)
{
    return !run_group_stopped_by() && !fix->is_out_of_runs;
}

static bool is_known(const struct fix *fix, size_t run)
{
    return run != LARGEST_NO_RUN && fix->runs[run].trial.is_known;
}

/* Tries a value and notes the result in *largest. Returns 1 if the program fits, and 0 if it does
 * not or if no run is left. */
static int try_value(struct largest *largest, struct fix *fix, long value, struct err *err)
{
    const struct fix_change change = {.setting = SETTING_NONE, .value = value};
    const size_t before = fix->count;
    const int fits = fix_try(fix, &change, err);
    if (fits > 0)
        largest->fits = fix->count - 1;
    else if (!fits && fix->count > before && !run_group_stopped_by())
        largest->refused = fix->count - 1;
    return fits;
}

/* Returns the value of the range at or just below the middle of the two. Returns `fits` if no value
 * lies between the two. */
static long middle_of(const struct vary *vary, long fits, long refused)
{
    const long steps = (refused - fits + vary->step - 1) / vary->step;
    return fits + steps / 2 * vary->step;
}

static int close_in(struct largest *largest, struct fix *fix, struct err *err)
{
    while (may_go_on(fix)) {
        const long fits = largest_value(fix, largest->fits);
        const long middle = middle_of(&fix->varies[0], fits, largest_value(fix, largest->refused));
        largest->is_closed = middle == fits;
        if (largest->is_closed)
            return 0;
        if (try_value(largest, fix, middle, err) < 0)
            return -1;
    }
    return 0;
}

/* Looks for a run with a larger value and a lower peak than another run. */
static void look_for_falls(struct largest *largest, const struct fix *fix)
{
    for (size_t i = 0; i < fix->count; i++)
        for (size_t j = 0; j < fix->count; j++) {
            const struct trial *less = &fix->runs[i].trial, *more = &fix->runs[j].trial;
            if (less->end != TRIAL_FITS || more->end != TRIAL_FITS || !less->is_known ||
                !more->is_known || largest_value(fix, i) >= largest_value(fix, j) ||
                less->peak_bytes <= more->peak_bytes)
                continue;
            largest->higher = i;
            largest->lower = j;
            return;
        }
}

static int try_both_ends(struct largest *largest, struct fix *fix, struct err *err)
{
    const struct vary *vary = &fix->varies[0];
    const long top = vary->low + (vary->high - vary->low) / vary->step * vary->step;
    const int low_fits = try_value(largest, fix, vary->low, err);
    const size_t low = fix->count - 1;
    if (low_fits < 0)
        return -1;
    if (!fix->count || fix->runs[low].trial.end > TRIAL_NO_MEMORY) {
        largest->end = LARGEST_FAILED;
        return 0;
    }
    const int top_fits = top > vary->low ? try_value(largest, fix, top, err) : low_fits;
    if (top_fits < 0)
        return -1;
    if (low_fits)
        largest->end = top_fits ? LARGEST_ALL : LARGEST_FOUND;
    else
        largest->end = top_fits ? LARGEST_UNEVEN : LARGEST_NONE;
    largest->is_flat = low_fits && top_fits && largest->fits != low && is_known(fix, low) &&
                       is_known(fix, largest->fits) &&
                       fix->runs[low].trial.peak_bytes == fix->runs[largest->fits].trial.peak_bytes;
    return 0;
}

int largest_find(struct largest *largest, struct fix *fix, struct err *err)
{
    *largest = (struct largest){.fits = LARGEST_NO_RUN,
                                .refused = LARGEST_NO_RUN,
                                .higher = LARGEST_NO_RUN,
                                .lower = LARGEST_NO_RUN};
    if (try_both_ends(largest, fix, err))
        return -1;
    if (largest->end == LARGEST_FOUND && largest->refused != LARGEST_NO_RUN &&
        close_in(largest, fix, err))
        return -1;
    look_for_falls(largest, fix);
    return 0;
}
