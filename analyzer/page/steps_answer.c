/* SPDX-License-Identifier: MIT */
/* What `steps` opens with: the step that stands out and what made it high, or that none does. */
#include "parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/analysis/leaks.h"
#include "analyzer/analysis/steps/ages.h"
#include "analyzer/analysis/steps/outlier.h"
#include "analyzer/render/units.h"

#define WHO_BYTES (BLAME_TEXT_BYTES + UNITS_TEXT_BYTES + 16)

/* ", most of it by train.py:88 forward (3.20 GiB)" of the first site that is new, or that is not. */
static int most_text(char out[WHO_BYTES], const struct study *study, const struct outlier *outlier,
                     bool is_new, struct err *err)
{
    char who[BLAME_TEXT_BYTES], bytes[UNITS_TEXT_BYTES];

    *out = 0;
    for (size_t i = 0; i < outlier->count; i++) {
        const struct outlier_site *site = &outlier->sites[i];
        if ((site->typical_bytes <= 0) != is_new)
            continue;
        if (blame_alone(who, study->symbols, site->stack_id, err) < 0)
            return -1;
        snprintf(out, WHO_BYTES, ", most of it by %s (%s%s)", who, is_new ? "" : "+",
                 units_bytes(bytes, (uint64_t)((double)site->bytes - site->typical_bytes + 0.5)));
        return 0;
    }
    return 0;
}

/* What was live at the beginning of the step is a leak if the stock has one. */
static int say_began(struct opening *opening, const struct study *study, uint32_t stock,
                     const struct outlier *outlier, struct err *err)
{
    char began[UNITS_TEXT_BYTES], typical[UNITS_TEXT_BYTES];
    struct stock_leak found;

    if (stock_leak_find(&found, study, stock, err))
        return -1;
    const bool leaks = found.leak.verdict == LEAK_FOUND;
    stock_leak_release(&found);
    page_next(opening, leaks ? "leaks" : "peak");
    return page_say(opening, "%s was live when it began, typically %s: %s.",
                    units_bytes(began, outlier->step.start_bytes),
                    units_bytes(typical, outlier->typical_start_bytes),
                    leaks ? "a rising line, a leak" : "something was kept from steps before");
}

static int say_cause(struct opening *opening, const struct study *study, uint32_t stock,
                     const struct outlier *outlier, struct err *err)
{
    char most[WHO_BYTES], bytes[UNITS_TEXT_BYTES];

    switch (outlier->cause) {
    case OUTLIER_FIRST:
        return page_say(opening, "It is the first step, which holds what is made once.");
    case OUTLIER_BEGAN:
        return say_began(opening, study, stock, outlier, err);
    case OUTLIER_NEW:
        if (most_text(most, study, outlier, true, err))
            return -1;
        return page_say(opening,
                        "Call stacks that other steps do not have allocated %s%s: another path "
                        "through the program.",
                        units_bytes(bytes, outlier->new_bytes), most);
    case OUTLIER_MORE:
        if (most_text(most, study, outlier, false, err))
            return -1;
        return page_say(opening,
                        "The same call stacks allocated %.1f times as much as in other steps%s: a "
                        "longer batch or more of the same.",
                        outlier->more_ratio, most);
    default:
        return 1;
    }
}

static int say_step(struct opening *opening, const struct study *study,
                    const struct outlier *outlier)
{
    char peak[UNITS_TEXT_BYTES], typical[UNITS_TEXT_BYTES], asked[UNITS_TEXT_BYTES];
    const struct step *step = &outlier->step;

    units_bytes(peak, step->peak_bytes);
    units_bytes(typical, outlier->typical_peak_bytes);
    if (outlier->is_open)
        return page_say(opening,
                        "Step %" PRIu64
                        " did not end: it held %s when an allocation of %s failed%s%s.",
                        step->number, peak, units_bytes(asked, outlier->failure->event.size_bytes),
                        outlier->has_typical ? "; a typical step peaks at " : "",
                        outlier->has_typical ? typical : "");
    if (outlier->cause == OUTLIER_NONE)
        return page_say(opening,
                        "No step stands out: of %" PRIu64 " steps the highest, step %" PRIu64
                        ", peaked at %s, a typical one at %s.",
                        study->steps.step_count, step->number, peak, typical);
    return page_say(opening,
                    "Step %" PRIu64 " of %" PRIu64
                    " peaked at %s, %.1f times the %s of a typical step.",
                    step->number, study->steps.step_count, peak,
                    (double)step->peak_bytes / (double)outlier->typical_peak_bytes, typical);
}

/* What the step before left behind, if it is a twentieth of the peak. */
static int say_ages(struct opening *opening, const struct study *study, uint32_t stock,
                    struct err *err)
{
    const uint64_t peak_bytes = study->history.stocks[stock].peak_bytes;
    char who[BLAME_TEXT_BYTES], bytes[UNITS_TEXT_BYTES];
    struct ages ages;

    if (ages_at_peak(&ages, &study->steps, &study->history, stock, err))
        return -1;
    if (ages.rows[AGE_BEFORE].bytes < peak_bytes / 20 || !ages.rows[AGE_BEFORE].bytes)
        return 1;
    if (blame_alone(who, study->symbols, ages.rows[AGE_BEFORE].stack_id, err) < 0)
        return -1;
    return page_say(opening,
                    "At the peak %s is still there from the step before: %s holds most of it.",
                    units_bytes(bytes, ages.rows[AGE_BEFORE].bytes), who);
}

static int say_steps(struct opening *opening, const struct study *study, uint32_t stock,
                     const struct outlier *outlier, struct err *err)
{
    page_next(opening, outlier->is_open ? "oom" : "peak");
    return say_step(opening, study, outlier) < 0 ||
                   say_cause(opening, study, stock, outlier, err) < 0
               ? -1
               : say_ages(opening, study, stock, err);
}

/* The device whose highest step is highest. */
static uint32_t choose_stock(const struct study *study, const struct view *view)
{
    const struct history *history = &study->history;
    uint32_t found = HISTORY_NONE;

    for (size_t i = 0; i < history->device_count; i++) {
        const struct device_use *use = &history->devices[i];
        const uint32_t stock = study_stock(study, use, view);
        if (stock == HISTORY_NONE || !step_watch_of(&study->steps, stock) ||
            (view->device >= 0 && view->device != use->device))
            continue;
        if (found == HISTORY_NONE ||
            history->stocks[stock].peak_bytes > history->stocks[found].peak_bytes)
            found = stock;
    }
    return found;
}

int page_steps_answer(struct opening *opening, const struct study *study, const struct view *view,
                      struct err *err)
{
    const uint32_t stock = choose_stock(study, view);
    struct outlier outlier;

    if (stock == HISTORY_NONE)
        return page_say(opening, "No GPU memory was allocated.");
    if (!study->steps.step_count)
        return page_say(opening,
                        "The trace has no steps: call gpumemtrace_step() at the end of each, or "
                        "name an NVTX range \"step\" (torch.cuda.nvtx.range_push).");
    if (outlier_find(&outlier, &study->steps, &study->history, stock, err))
        return -1;
    const int status = outlier.has_typical || outlier.is_open
                           ? say_steps(opening, study, stock, &outlier, err)
                           : page_say(opening, "Only one step ended: nothing to compare it with.");
    outlier_release(&outlier);
    return status;
}
