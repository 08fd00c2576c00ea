/* SPDX-License-Identifier: MIT */
/* The answer of `leaks`: the worst leak of all devices, or why there is none. */
#include "analyzer/page/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/analysis/leaks.h"
#include "analyzer/render/units.h"

/* The account that the answer is about. A leak comes before an unknown verdict. If there are
 * several leaks, the steepest one is taken. */
struct worst {
    struct account_leak found;
    uint32_t account; /* HISTORY_NONE: no device allocated anything */
};

static bool is_worse(const struct leak *leak, const struct leak *than)
{
    if (leak->verdict != than->verdict)
        return leak->verdict > than->verdict;
    return leak->slope + leak->enlarged_slope > than->slope + than->enlarged_slope;
}

/* Takes the account if it is worse than *worst. Accounts other than a device's leading one count
 * only if they leak or grow. */
static int take_if_worse(struct worst *worst, const struct study *study, uint32_t account,
                         bool is_leading, struct err *err)
{
    struct account_leak found;

    if (!study->history.accounts[account].has_begun)
        return 0;
    if (account_leak_find(&found, study, account, err))
        return -1;
    if ((!is_leading && found.leak.verdict < LEAK_GROWS) ||
        (worst->account != HISTORY_NONE && !is_worse(&found.leak, &worst->found.leak))) {
        account_leak_release(&found);
        return 0;
    }
    account_leak_release(&worst->found);
    *worst = (struct worst){found, account};
    return 0;
}

static int find_worst(struct worst *worst, const struct study *study, const struct view *view,
                      struct err *err)
{
    const struct history *history = &study->history;

    *worst = (struct worst){.account = HISTORY_NONE};
    for (size_t i = 0; i < history->device_count; i++) {
        const struct device_use *use = &history->devices[i];
        uint32_t accounts[STUDY_ACCOUNTS_MAX];
        const size_t count = study_accounts(study, use, view, accounts, STUDY_ACCOUNTS_MAX);

        for (size_t n = 0; n < count && (view->device < 0 || view->device == use->device); n++)
            if (take_if_worse(worst, study, accounts[n], n == 0, err)) {
                account_leak_release(&worst->found);
                return -1;
            }
    }
    return 0;
}

/* --- a leak --- */

/* Writes a slope as text: "12.0 MiB". A slope may be below one byte. */
static const char *slope_text(char out[UNITS_TEXT_BYTES], double bytes)
{
    if (bytes > 0 && bytes < 0.5)
        snprintf(out, UNITS_TEXT_BYTES, "less than 1 B");
    else
        units_bytes(out, (uint64_t)(fabs(bytes) + 0.5));
    return out;
}

/* Writes " in the driver's memory, outside the pytorch pool", or "" for the leading account. */
static const char *layer_text(char out[PAGE_LAYER_BYTES + 64], const struct study *study,
                              uint32_t account)
{
    const struct history *history = &study->history;
    const struct account *own = &history->accounts[account];
    const uint32_t leading = history_device(history, own->device)->leading;
    char name[PAGE_LAYER_BYTES];

    *out = 0;
    if (account != leading)
        snprintf(out, PAGE_LAYER_BYTES + 64, " in the %s, outside the %s",
                 own->kind == ACCOUNT_device ? "driver's memory" : study_pool(study, own),
                 page_layer_name(study, &history->accounts[leading], name));
    return out;
}

/* Writes a number of steps with two digits, because the forecast is no more precise: "900",
 * "16,000", "6.5 million". */
static const char *about_text(char out[32], double steps)
{
    double unit = 1;

    while (steps >= 100 * unit)
        unit *= 10;
    steps = floor(steps / unit) * unit;
    if (steps >= 1e6)
        snprintf(out, 32, "%.2g million", steps / 1e6);
    else if (steps >= 1e3)
        snprintf(out, 32, "%.0f,%03.0f", floor(steps / 1e3), fmod(steps, 1e3));
    else
        snprintf(out, 32, "%.0f", steps);
    return out;
}

enum { FUTURE_TEXT_BYTES = 96 };

/* Writes "The card is full after about 900 more steps". */
static const char *future_text(char out[FUTURE_TEXT_BYTES], const struct account_leak *found)
{
    const double steps = found->steps_left;
    char about[32];

    *out = 0;
    if (!found->knows_steps_left)
        return out;
    if (steps < 1) {
        snprintf(out, FUTURE_TEXT_BYTES, "The card is full");
        return out;
    }
    snprintf(out, FUTURE_TEXT_BYTES, "The card is full after about %s more steps",
             about_text(about, steps));
    return out;
}

/* Writes " by train.py:40 main", for the steepest row that keeps more blocks or, if is_enlarged is
 * set, larger blocks. Returns false if no row is named. */
static bool leak_label(char *out, size_t size, const struct account_leak *found, bool is_enlarged)
{
    const struct leak_row *steepest = NULL;
    char part[UNITS_TEXT_BYTES];
    size_t count = 0;

    for (size_t i = 0; i < found->growing.count; i++) {
        const struct leak_row *row = &found->growing.items[i];
        if (row->cache || row->is_left_out || row->is_enlarged != is_enlarged)
            continue;
        steepest = steepest ? steepest : row;
        count++;
    }
    if (!count)
        snprintf(out, size, ", spread over call stacks; none of them grows by itself");
    else if (count == 1)
        snprintf(out, size, " by %s", steepest->blamed->label);
    else
        snprintf(out, size, ", %s of it by %s", slope_text(part, steepest->slope),
                 steepest->blamed->label);
    return count > 0;
}

/* Enough for "1.00 MiB per step (±0 B, 25 steps), … by train.py:40 main". */
#define GROWTH_TEXT_BYTES (BLAME_TEXT_BYTES + PAGE_LAYER_BYTES + 4 * UNITS_TEXT_BYTES + 256)
static bool growth_text(char out[GROWTH_TEXT_BYTES], const struct study *study,
                        const struct worst *worst, bool is_enlarged)
{
    const struct leak *leak = &worst->found.leak;
    const double width =
        is_enlarged ? leak->enlarged_high - leak->enlarged_low : leak->high - leak->low;
    char label[BLAME_TEXT_BYTES + 64], slope[UNITS_TEXT_BYTES], error[UNITS_TEXT_BYTES];
    char layer[PAGE_LAYER_BYTES + 64];

    const bool is_named = leak_label(label, sizeof label, &worst->found, is_enlarged);

    snprintf(out, GROWTH_TEXT_BYTES, "%s per step (±%s, %" PRIu64 " steps)%s%s",
             slope_text(slope, is_enlarged ? leak->enlarged_slope : leak->slope),
             slope_text(error, width / 2), worst->found.growth.ends_count,
             layer_text(layer, study, worst->account), label);
    return is_named;
}

static bool is_of_pytorch(const struct study *study, uint32_t account)
{
    const struct account *own = &study->history.accounts[account];

    return own->kind == ACCOUNT_pool && !strcmp(study_pool(study, own), "pytorch");
}

/*
 * Says whether a kept tensor may keep its autograd graph. If no kept memory belongs to a graph, no
 * kept tensor keeps one: the tensors were made under no_grad, or from inputs that are not trained.
 * A trace that has a backward but links no tensor to a graph cannot tell.
 */
static const char *graph_text(const struct study *study, const struct leak *leak)
{
    if (leak->keeps_graph)
        return ", or for a tensor that keeps its graph (.detach() or .item() frees it)";
    return study->growth.has_graphs || trace_tells_autograd(&study->trace) ||
                   !study_has_backward(study)
               ? ""
               : "; the trace does not tell whether a tensor keeps its graph";
}

static int say_leak(struct opening *opening, const struct study *study, const struct worst *worst)
{
    char growth[GROWTH_TEXT_BYTES], future[FUTURE_TEXT_BYTES];
    const bool is_named = growth_text(growth, study, worst, false);

    page_next(opening, worst->found.is_gone ? "peak" : "peak --at=end");
    if (page_say(opening, VERDICT_what, "Leak: %s.", growth) < 0 ||
        (*future_text(future, &worst->found) && page_say(opening, VERDICT_what, "%s.", future) < 0))
        return -1;
    if (!is_named)
        return 1;
    if (!is_of_pytorch(study, worst->account))
        return page_say(opening, VERDICT_do,
                        "Memory that this line allocated in earlier steps is still live: look for "
                        "a reference to it (a list, a cache, a closure), or for a missing free.");
    return page_say(opening, VERDICT_do,
                    "Memory that this line allocated in earlier steps is still live: look for a "
                    "reference to it (a list, a cache, a closure, an exception)%s.",
                    graph_text(study, &worst->found.leak));
}

static int say_growth(struct opening *opening, const struct study *study, const struct worst *worst)
{
    char growth[GROWTH_TEXT_BYTES], future[FUTURE_TEXT_BYTES];

    growth_text(growth, study, worst, true);
    if (page_say(opening, VERDICT_what, "No leak, but kept blocks get larger: %s.", growth) < 0 ||
        (*future_text(future, &worst->found) &&
         page_say(opening, VERDICT_what, "%s.", future) < 0) ||
        page_say(opening, VERDICT_why,
                 "The number of blocks stays the same, but each is larger than the one it "
                 "replaced: a cache of tokens, or a list that is copied to make room.") < 0)
        return -1;
    return page_say(opening, VERDICT_do, "Give it its final size at once, or a limit.");
}

/* --- no leak --- */

static int say_cache(struct opening *opening, const struct leak *leak)
{
    char slope[UNITS_TEXT_BYTES];

    if (leak->cache_slope <= leak->floor)
        return 1;
    return page_say(opening, VERDICT_why,
                    "%s per step is kept by %s, which is not a leak of the program.",
                    slope_text(slope, leak->cache_slope), leak->cache);
}

static int say_none(struct opening *opening, const struct worst *worst)
{
    const struct leak *leak = &worst->found.leak;
    const uint64_t steps = worst->found.growth.ends_count;
    char slope[UNITS_TEXT_BYTES];

    if (leak->slope > 0 && leak->slope <= leak->floor)
        return page_say(opening, VERDICT_what,
                        "No leak: %s per step (%" PRIu64 " steps) would fill the card only after "
                        "more than ten million steps.",
                        slope_text(slope, leak->slope), steps);
    return page_say(opening, VERDICT_what,
                    "No leak: live bytes do not grow from step to step (%" PRIu64 " steps).",
                    steps) < 0
               ? -1
               : say_cache(opening, leak);
}

/* Says that memory is kept for a backward that never ran. */
static int say_waiting(struct opening *opening, const struct worst *worst)
{
    char label[BLAME_TEXT_BYTES + 64], slope[UNITS_TEXT_BYTES];

    leak_label(label, sizeof label, &worst->found, false);
    if (page_say(opening, VERDICT_what,
                 "Cannot tell whether memory leaks: memory kept for a backward that never came "
                 "grows by %s each time a line repeats (%" PRIu64 " times)%s.",
                 slope_text(slope, worst->found.leak.slope), worst->found.growth.ends_count,
                 label) < 0)
        return -1;
    if (page_say(opening, VERDICT_why, "A forward keeps that much until its backward.") < 0)
        return -1;
    return page_say(opening, VERDICT_do,
                    "If no backward follows, run the forward under torch.no_grad(), or .detach() "
                    "the kept tensors.");
}

static int say_unknown(struct opening *opening, const struct worst *worst)
{
    const struct growth *growth = &worst->found.growth;
    char slope[UNITS_TEXT_BYTES];

    if (worst->found.leak.waits)
        return say_waiting(opening, worst);
    if (growth->ends == STEP_ENDS)
        return page_say(opening, VERDICT_what,
                        "Cannot tell whether memory leaks: the program marks no steps, and no "
                        "phase or allocation that repeats shows where one begins.") < 0
                   ? -1
                   : page_say(opening, VERDICT_do,
                              "Call gpumemtrace_step() at the end of each step, or name an NVTX "
                              "range \"step\".");
    if (!growth->total.has_slope)
        return page_say(opening, VERDICT_what,
                        "Cannot tell whether memory leaks: %" PRIu64
                        " %s too few, at least %d are needed.",
                        growth->ends_count, growth->ends_count == 1 ? "step is" : "steps are",
                        WARM_UP_ENDS + FEWEST_ENDS);
    return page_say(opening, VERDICT_what,
                    "Cannot tell whether memory leaks: live bytes differ so much from step to step "
                    "that a leak of up to %s per step would not show in %" PRIu64 " steps.",
                    slope_text(slope, growth->total.high), growth->ends_count);
}

/* --- the page's answers --- */

static int say_verdict(struct opening *opening, const struct study *study,
                       const struct worst *worst)
{
    if (worst->account == HISTORY_NONE)
        return page_say(opening, VERDICT_what, "No leak: no GPU memory was allocated.");
    switch (worst->found.leak.verdict) {
    case LEAK_FOUND:
        return say_leak(opening, study, worst);
    case LEAK_GROWS:
        return say_growth(opening, study, worst);
    case LEAK_NONE:
        return say_none(opening, worst);
    default:
        return say_unknown(opening, worst);
    }
}

int page_leaks_answer(struct opening *opening, const struct study *study, const struct view *view,
                      struct err *err)
{
    struct worst worst;
    int status = 0;

    if (find_worst(&worst, study, view, err))
        return -1;
    if (worst.found.leak.verdict == LEAK_FOUND)
        status = say_leak(opening, study, &worst);
    account_leak_release(&worst.found);
    return status;
}

int page_leaks_verdict(struct opening *opening, const struct study *study, const struct view *view,
                       struct err *err)
{
    const struct page_leaks_options *own = view->own;
    struct worst worst;

    if (find_worst(&worst, study, view, err))
        return -1;
    const int status = say_verdict(opening, study, &worst);
    *own->found |= worst.found.leak.verdict == LEAK_FOUND;
    account_leak_release(&worst.found);
    return status;
}
