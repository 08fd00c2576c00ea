/* SPDX-License-Identifier: MIT */
/* The answer of `leaks`: the worst leak of all devices, or why there is none. */
#include "lines.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/analysis/fragmentation/idle.h"
#include "analyzer/analysis/leak_signs.h"
#include "analyzer/page/parts.h"
#include "analyzer/render/units.h"
#include "analyzer/util/text.h"
#include "analyzer/util/utf8.h"

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

/* --- texts --- */

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

/* Writes "the card is full after about 900 more steps". */
static const char *future_text(char out[FUTURE_TEXT_BYTES], const struct account_leak *found)
{
    const double steps = found->steps_left;
    char about[32];

    *out = 0;
    if (!found->knows_steps_left)
        return out;
    if (steps < 1) {
        snprintf(out, FUTURE_TEXT_BYTES, "the card is full");
        return out;
    }
    snprintf(out, FUTURE_TEXT_BYTES, "the card is full after about %s more steps",
             about_text(about, steps));
    return out;
}

/* --- a leak --- */

static int say_sign(struct opening *opening, const struct leak_sign *sign)
{
    return sign && page_say(opening, VERDICT_why, "%s.", sign->why) < 0 ? -1 : 1;
}

static int say_action(struct opening *opening, const struct leak_sign *sign)
{
    return sign ? page_say(opening, VERDICT_do, "%s", sign->action) : 1;
}

/* A graph keeps the inputs of its operators as well. */
static int say_input(struct opening *opening, const struct account_leak *found,
                     const struct leak_sign *sign)
{
    char slope[UNITS_TEXT_BYTES];

    if (!sign || strcmp(sign->name, "no_backward"))
        return 1;
    for (size_t i = 0; i < found->growing.count; i++) {
        const struct leak_row *row = &found->growing.items[i];
        if (row->is_of_cause && !row->is_of_graph &&
            lines_worth_naming(row->slope, found->leak.slope))
            return page_join(opening, VERDICT_why,
                             "the graph keeps its input as well, %s per step by %s",
                             slope_text(slope, row->slope), row->blamed->label);
    }
    return 1;
}

static int say_future(struct opening *opening, const struct account_leak *found)
{
    char future[FUTURE_TEXT_BYTES];

    return *future_text(future, found) ? page_join(opening, VERDICT_who, "%s", future) : 1;
}

/* Says how much is held now, since when, and how exact the slope is. */
static int say_held(struct opening *opening, const struct account_leak *found)
{
    const struct leak *leak = &found->leak;
    const double error = (leak->high - leak->low) / 2;
    char held[UNITS_TEXT_BYTES], width[UNITS_TEXT_BYTES], since[64] = "";
    uint64_t bytes = 0, first_step = UINT64_MAX;

    for (size_t i = 0; i < found->growing.count; i++) {
        const struct leak_row *row = &found->growing.items[i];
        if (!row->is_of_cause)
            continue;
        bytes += row->last_bytes;
        first_step = row->first->since_step < first_step ? row->first->since_step : first_step;
    }
    if (!bytes)
        return 1;
    if (first_step == 1)
        snprintf(since, sizeof since, ", kept since the first step");
    else if (first_step && first_step < UINT64_MAX)
        snprintf(since, sizeof since, ", kept since step %" PRIu64, first_step);
    if (page_say(opening, VERDICT_who, "%s of it is live after %" PRIu64 " steps%s.",
                 units_bytes(held, bytes), found->growth.ends_count, since) < 0)
        return -1;
    return error * 100 > leak->slope
               ? page_say(opening, VERDICT_who, "The growth is known to ±%s per step.",
                          slope_text(width, error))
               : 1;
}

/* Says that a program outgrows its blocks, as with a pool whose requests become larger. */
static int say_larger(struct opening *opening, const struct account_leak *found)
{
    size_t count = 0;

    for (size_t i = 0; i < found->growing.count; i++) {
        const struct leak_row *row = &found->growing.items[i];
        const struct site_blocks *blocks = row->first->blocks;
        if (!row->is_of_cause)
            continue;
        if (blocks->larger_count + 1 != blocks->births_count)
            return 1;
        count++;
    }
    return count ? page_join(opening, VERDICT_why, "each block is larger than the one before") : 1;
}

/* Names growth in other steps than those of the cause. */
static int say_beside(struct opening *opening, const struct account_leak *found)
{
    const double slope = lines_slope(found, ROWS_BESIDE);
    char lines[LINES_TEXT_BYTES], per_step[UNITS_TEXT_BYTES];

    if (slope <= 0 || !lines_worth_naming(slope, found->leak.slope))
        return 1;
    lines_text(lines, found, ROWS_BESIDE, LINES_UNLIMITED);
    return page_say(opening, VERDICT_who, "In other steps, %s per step is kept%s.",
                    slope_text(per_step, slope), lines);
}

#define GROWTH_TEXT_BYTES (LINES_TEXT_BYTES + PAGE_LAYER_BYTES + UNITS_TEXT_BYTES + 128)
/* Writes "16.00 MiB per step by clip.py:13 SoftClip.forward in the driver's memory, …", in at most
 * so many characters: names the memory only if there is room. */
static void growth_text(char out[GROWTH_TEXT_BYTES], const struct study *study,
                        const struct worst *worst, enum rows rows, size_t characters)
{
    const struct leak *leak = &worst->found.leak;
    const double of_cause = lines_slope(&worst->found, ROWS_OF_CAUSE);
    const double slope = rows == ROWS_ENLARGED ? leak->enlarged_slope
                         : of_cause > 0        ? of_cause
                                               : leak->slope;
    char lines[LINES_TEXT_BYTES], per_step[UNITS_TEXT_BYTES], layer[PAGE_LAYER_BYTES + 64];

    int length = snprintf(out, GROWTH_TEXT_BYTES, "%s per step", slope_text(per_step, slope));
    length += snprintf(out + length, GROWTH_TEXT_BYTES - (size_t)length, "%s",
                       lines_text(lines, &worst->found, rows, characters - (size_t)length));
    layer_text(layer, study, worst->account);
    if (utf8_text_columns(out) + utf8_text_columns(layer) <= characters)
        snprintf(out + length, GROWTH_TEXT_BYTES - (size_t)length, "%s", layer);
}

/* Says which memory grows, if the verdict had no room for that. */
static int say_layer(struct opening *opening, const struct study *study, const struct worst *worst,
                     const char *growth)
{
    char layer[PAGE_LAYER_BYTES + 64];

    layer_text(layer, study, worst->account);
    return strstr(growth, layer) ? 1 : page_say(opening, VERDICT_who, "It grows%s.", layer);
}

static int say_leak(struct opening *opening, const struct study *study, const struct worst *worst,
                    struct err *err)
{
    char growth[GROWTH_TEXT_BYTES];
    struct leak_evidence evidence;

    if (leak_evidence_find(&evidence, study, worst->account, &worst->found, err))
        return -1;
    const struct leak_sign *sign = leak_sign_of(&evidence);
    growth_text(growth, study, worst, ROWS_OF_CAUSE, VERDICT_WHAT_CHARACTERS - strlen("Leak: ."));
    page_next(opening, worst->found.is_gone ? "peak" : "peak --at=end");
    return page_say(opening, VERDICT_what, "Leak: %s.", growth) < 0 ||
                   say_sign(opening, sign) < 0 || say_larger(opening, &worst->found) < 0 ||
                   say_input(opening, &worst->found, sign) < 0 ||
                   say_held(opening, &worst->found) < 0 || say_future(opening, &worst->found) < 0 ||
                   say_layer(opening, study, worst, growth) < 0 ||
                   say_beside(opening, &worst->found) < 0 || say_action(opening, sign) < 0
               ? -1
               : 1;
}

/* --- growth that is no leak --- */

/* The room that these sentences leave for a name in the verdict. */
enum { NAME_CHARACTERS = 33 };

/* Writes "in step 24", "every 40 steps" or "3 times". */
static const char *collapses_text(char out[64], const struct growing *site)
{
    if (teeth_are_equal(&site->teeth))
        snprintf(out, 64, "every %.0f steps", site->period_steps);
    else if (site->teeth.count == 1 && site->collapse_step)
        snprintf(out, 64, "in step %" PRIu64, site->collapse_step);
    else
        snprintf(out, 64, "%zu time%s", site->teeth.count, site->teeth.count == 1 ? "" : "s");
    return out;
}

static int say_saw(struct opening *opening, const struct study *study, const struct worst *worst,
                   const struct leak_row *row, struct err *err)
{
    char growth[GROWTH_TEXT_BYTES], when[64];
    struct leak_evidence evidence;

    if (leak_evidence_find(&evidence, study, worst->account, &worst->found, err))
        return -1;
    const struct leak_sign *sign = leak_sign_of(&evidence);
    collapses_text(when, row->first);
    growth_text(growth, study, worst, ROWS_OF_CAUSE,
                VERDICT_WHAT_CHARACTERS - strlen("+, freed at once .") - strlen(when));
    return page_say(opening, VERDICT_what, "+%s, freed at once %s.", growth, when) < 0 ||
                   say_sign(opening, sign) < 0 || say_action(opening, sign) < 0
               ? -1
               : 1;
}

static int say_outgrown(struct opening *opening, const struct worst *worst, enum verdict_role role)
{
    const struct outgrown *outgrown = &worst->found.growth.outgrown;
    const struct blamed *first = blame_of(&worst->found.blame, outgrown->stack_ids[0]);
    char lines[LINES_TEXT_BYTES], bytes[UNITS_TEXT_BYTES];
    struct text text;

    text_init_in(&text, lines, sizeof lines);
    lines_add_position(&text, first, NULL);
    if (outgrown->count > 1)
        lines_add_position(&text, blame_of(&worst->found.blame, outgrown->stack_ids[1]), first);
    return page_say(opening, role,
                    "%" PRIu64 " blocks by %s, none freed, each larger than the one before: %s.",
                    outgrown->blocks_count, lines, units_bytes(bytes, outgrown->bytes)) < 0
               ? -1
               : page_say(opening, VERDICT_do,
                          "Give the block its final size at once, or free the one that it "
                          "replaces.");
}

static int say_enlarged(struct opening *opening, const struct study *study,
                        const struct worst *worst)
{
    const struct leak_row *row = lines_steepest(&worst->found, ROWS_ENLARGED);
    char growth[GROWTH_TEXT_BYTES], bytes[UNITS_TEXT_BYTES], name[VERDICT_NAME_BYTES];

    growth_text(growth, study, worst, ROWS_ENLARGED,
                VERDICT_WHAT_CHARACTERS - strlen("No leak, but kept blocks get larger: ."));
    if (row && row->first->enlarged_by_bytes && row->first->enlarged_count == 1 &&
        row->stack_count == 1) {
        if (page_say(opening, VERDICT_what,
                     "No leak, but each block is %s larger than the last, by %s.",
                     units_bytes(bytes, row->first->enlarged_by_bytes),
                     verdict_fit(name, row->blamed->label, NAME_CHARACTERS)) < 0)
            return -1;
    } else if (page_say(opening, VERDICT_what, "No leak, but kept blocks get larger: %s.", growth) <
               0)
        return -1;
    return page_say(opening, VERDICT_why,
                    "The number of blocks stays the same: a cache of tokens, or a list that is "
                    "copied to make room.") < 0 ||
                   say_future(opening, &worst->found) < 0 ||
                   page_say(opening, VERDICT_do, "Give it its final size at once, or a limit.") < 0
               ? -1
               : 1;
}

static int say_growth(struct opening *opening, const struct study *study, const struct worst *worst,
                      struct err *err)
{
    const struct leak_row *row = lines_steepest(&worst->found, ROWS_OF_CAUSE);

    if (worst->found.growth.outgrown.count)
        return say_outgrown(opening, worst, VERDICT_what);
    return worst->found.leak.saw_slope > worst->found.leak.enlarged_slope && row && row->is_saw
               ? say_saw(opening, study, worst, row, err)
               : say_enlarged(opening, study, worst);
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

static int say_flushed(struct opening *opening, const struct leak_row *row)
{
    char slope[UNITS_TEXT_BYTES], when[64], name[VERDICT_NAME_BYTES];

    return page_say(opening, VERDICT_what, "No leak: +%s per step by %s, freed at once %s.",
                    slope_text(slope, row->slope),
                    verdict_fit(name, row->blamed->label, NAME_CHARACTERS),
                    collapses_text(when, row->first));
}

/* Says that the pool reserved much more than was live, and whether the driver's memory grew by
 * steps, because a reader who asks for a leak may have seen this growth outside the program. */
static int say_excess(struct opening *opening, const struct study *study, uint32_t account)
{
    const struct history *history = &study->history;
    const int device = history->accounts[account].device;
    const struct account *pool = &history->accounts[history_device(history, device)->leading];
    char reserved[UNITS_TEXT_BYTES], live[UNITS_TEXT_BYTES], rise[UNITS_TEXT_BYTES];
    struct leak_rounds rounds;

    if (!idle_is_excess(pool, study_card_bytes(study, device)))
        return 1;
    page_next(opening, "frag");
    if (leak_rounds_find(&rounds, &study->growth, pool->driver) &&
        page_say(opening, VERDICT_why,
                 "The driver's memory grew in %" PRIu64 " steps, by %s each%s.", rounds.count,
                 units_bytes(rise, rounds.bytes), rounds.has_stopped ? ", then stopped" : "") < 0)
        return -1;
    return page_say(
        opening, VERDICT_why, "The pool reserved %s at its peak, for at most %s of live tensors.",
        units_bytes(reserved, pool->peak_reserved_bytes), units_bytes(live, pool->peak_bytes));
}

static int say_none(struct opening *opening, const struct study *study, const struct worst *worst)
{
    const struct leak *leak = &worst->found.leak;
    const struct growth *growth = &worst->found.growth;
    const struct leak_row *row = lines_steepest(&worst->found, ROWS_OF_CAUSE);
    char slope[UNITS_TEXT_BYTES];
    int status;

    if (leak->slope > 0 && leak->slope <= leak->floor)
        return page_say(
            opening, VERDICT_what,
            "No leak: %s per step would fill the card after more than ten million steps.",
            slope_text(slope, leak->slope));
    if (leak->flushed_slope > 0 && row && row->is_saw)
        return say_flushed(opening, row);
    if (growth->flat_since)
        status = page_say(opening, VERDICT_what,
                          "No leak: live bytes are flat since step %" PRIu64 " of %" PRIu64 ".",
                          growth->flat_since, growth->ends_count);
    else
        status = page_say(opening, VERDICT_what,
                          "No leak: live bytes do not grow from step to step (%" PRIu64 " steps).",
                          growth->ends_count);
    return status < 0 || say_cache(opening, leak) < 0 ? -1
                                                      : say_excess(opening, study, worst->account);
}

/* Says that memory is kept for a backward that never ran. */
static int say_waiting(struct opening *opening, const struct worst *worst)
{
    char lines[LINES_TEXT_BYTES], slope[UNITS_TEXT_BYTES];

    lines_text(lines, &worst->found, ROWS_OF_CAUSE, LINES_UNLIMITED);
    if (page_say(opening, VERDICT_what,
                 "Cannot tell whether memory leaks: memory waits for a backward that never came.") <
            0 ||
        page_say(opening, VERDICT_why, "A forward keeps that much until its backward.") < 0 ||
        page_say(opening, VERDICT_who,
                 "Each time that a line repeats (%" PRIu64 " times), %s more is kept%s.",
                 worst->found.growth.ends_count, slope_text(slope, worst->found.leak.slope),
                 lines) < 0)
        return -1;
    return page_say(opening, VERDICT_do,
                    "If no backward follows, run the forward under torch.no_grad(), or .detach() "
                    "the kept tensors.");
}

/* Says that the growth may be chance. */
static int say_unsure(struct opening *opening, const struct account_leak *found)
{
    const struct leak *leak = &found->leak;
    char lines[LINES_TEXT_BYTES], slope[UNITS_TEXT_BYTES], error[UNITS_TEXT_BYTES];

    lines_text(lines, found, ROWS_OF_CAUSE, LINES_UNLIMITED);
    return page_say(opening, VERDICT_what,
                    "Cannot tell whether memory leaks: %s per step may be chance.",
                    slope_text(slope, leak->slope)) < 0
               ? -1
               : page_say(opening, VERDICT_why,
                          "In %" PRIu64 " steps the growth is known to ±%s per step%s.",
                          found->growth.ends_count, slope_text(error, (leak->high - leak->low) / 2),
                          lines);
}

static int say_unknown(struct opening *opening, const struct worst *worst)
{
    const struct growth *growth = &worst->found.growth;
    char slope[UNITS_TEXT_BYTES];

    if (worst->found.leak.waits)
        return say_waiting(opening, worst);
    if (worst->found.leak.is_unsure)
        return say_unsure(opening, &worst->found);
    if (growth->ends == STEP_ENDS)
        return page_say(opening, VERDICT_what,
                        "Cannot tell whether memory leaks: the program marks no steps.") < 0 ||
                       page_say(opening, VERDICT_why,
                                "No phase or allocation that repeats shows where a step begins.") <
                           0
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
                    "Cannot tell whether memory leaks: live bytes differ much from step to step.") <
                   0
               ? -1
               : page_say(opening, VERDICT_why,
                          "A leak of up to %s per step would not show in %" PRIu64 " steps.",
                          slope_text(slope, growth->total.high), growth->ends_count);
}

/* --- the page's answers --- */

static int say_verdict(struct opening *opening, const struct study *study,
                       const struct worst *worst, struct err *err)
{
    if (worst->account == HISTORY_NONE)
        return page_say(opening, VERDICT_what, "No leak: no GPU memory was allocated.");
    switch (worst->found.leak.verdict) {
    case LEAK_FOUND:
        return say_leak(opening, study, worst, err);
    case LEAK_GROWS:
        return say_growth(opening, study, worst, err);
    case LEAK_NONE:
        return say_none(opening, study, worst);
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
    if (worst.found.leak.verdict == LEAK_FOUND && !worst.found.leak.is_small)
        status = say_leak(opening, study, &worst, err);
    account_leak_release(&worst.found);
    return status;
}

/* Growth that the peak does not show, and that is said below it. Enlarged blocks are no news there,
 * because the peak has them. */
static int say_below_peak(struct opening *opening, const struct study *study,
                          const struct worst *worst)
{
    const struct account_leak *found = &worst->found;
    const struct leak_row *row = lines_steepest(found, ROWS_OF_CAUSE);
    char growth[GROWTH_TEXT_BYTES], when[64];

    if (worst->account == HISTORY_NONE)
        return 1;
    if (found->growth.outgrown.count)
        return say_outgrown(opening, worst, VERDICT_why);
    growth_text(growth, study, worst, ROWS_OF_CAUSE, LINES_UNLIMITED);
    if (found->leak.verdict == LEAK_FOUND)
        return page_join(opening, VERDICT_why, "memory grows by %s", growth) < 0
                   ? -1
                   : say_future(opening, found);
    return found->leak.verdict == LEAK_GROWS && row && row->is_saw
               ? page_say(opening, VERDICT_why, "+%s, freed at once %s.", growth,
                          collapses_text(when, row->first))
               : 1;
}

int page_leaks_below_peak(struct opening *opening, const struct study *study,
                          const struct view *view, struct err *err)
{
    struct worst worst;

    if (find_worst(&worst, study, view, err))
        return -1;
    const int status = say_below_peak(opening, study, &worst);
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
    const int status = say_verdict(opening, study, &worst, err);
    *own->found |= worst.found.leak.verdict == LEAK_FOUND;
    account_leak_release(&worst.found);
    return status;
}
