/* SPDX-License-Identifier: MIT */
/* The answer of `leaks`: the worst leak of all devices, or why there is none. */
#include "findings.h"
#include "lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/analysis/fragmentation/idle.h"
#include "analyzer/analysis/leak_signs.h"
#include "analyzer/page/parts.h"
#include "analyzer/render/units.h"
#include "analyzer/util/utf8.h"
#include "cause.h"
#include "kept.h"
#include "analyzer/thresholds/thresholds.h"

/* --- a leak --- */

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
            return page_join(
                opening, VERDICT_why, "the graph keeps its input as well, %s per %s by %s",
                slope_text(slope, row->slope), findings_round_word(found), row->blamed->label);
    }
    return 1;
}

/* Says how many blocks are held after the rounds that follow the last step. */
static int say_held_afterwards(struct opening *opening, const struct account_leak *found,
                               uint64_t bytes)
{
    uint64_t births_count = 0, most_count = 0;
    for (size_t i = 0; i < found->growth.count; i++) {
        births_count += found->growth.items[i].blocks->births_count;
        most_count += found->growth.items[i].blocks->most_live_count;
    }
    return page_say(opening, VERDICT_who,
                    "%" PRIu64 " blocks, %s, are kept after %" PRIu64 " rounds%s.", most_count,
                    BYTES_TEXT(bytes), found->growth.ends_count,
                    most_count == births_count ? "; none was freed" : "");
}

/* Says how much is held now, since when, and how exact the slope is. */
static int say_held(struct opening *opening, const struct account_leak *found)
{
    const struct leak *leak = &found->leak;
    const double error = (leak->high - leak->low) / 2;
    const uint64_t bytes = account_leak_bytes(found);
    char width[UNITS_TEXT_BYTES], since[64] = "";
    uint64_t first_step = UINT64_MAX;
    for (size_t i = 0; i < found->growing.count; i++) {
        const struct leak_row *row = &found->growing.items[i];
        if (row->is_of_cause && row->first->since_step < first_step)
            first_step = row->first->since_step;
    }
    if (!bytes)
        return 1;
    if (account_leak_is_afterwards(found))
        return say_held_afterwards(opening, found, bytes);
    if (first_step == 1)
        snprintf(since, sizeof since, ", kept since the first step");
    else if (first_step && first_step < UINT64_MAX)
        snprintf(since, sizeof since, ", kept since step %" PRIu64, first_step);
    if (page_say(opening, VERDICT_who, "%s of it is live after %" PRIu64 " steps%s.",
                 BYTES_TEXT(bytes), found->growth.ends_count, since) < 0)
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
        if (!rising_is_kept(&blocks->sizes, blocks->births_count, blocks->frees_count))
            return 1;
        count++;
    }
    return count ? page_join(opening, VERDICT_why, "each block is larger than the one before") : 1;
}

static int say_seldom(struct opening *opening, const struct account_leak *found)
{
    const struct leak_row *row = lines_steepest(found, ROWS_OF_CAUSE);
    const uint64_t steps = found->growth.counted_steps;
    if (!row || row->stack_count > 1 || row->rises_count > steps - steps / SELDOM_DIVISOR)
        return 1;
    const struct rising *sizes = &row->first->blocks->sizes;
    if (sizes->rises_count || sizes->falls_count ||
        row->last_bytes - row->first_bytes != row->rises_count * sizes->first_bytes)
        return 1;
    return page_join(opening, VERDICT_why,
                     "%" PRIu64 " of %" PRIu64 " steps keep a block of %s, the others none",
                     row->rises_count, steps, BYTES_TEXT(sizes->first_bytes));
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
    const uint64_t steps = rows == ROWS_OF_CAUSE && of_cause > 0 ? worst->found.rise_steps : 1;
    char lines[LINES_TEXT_BYTES], bytes[UNITS_TEXT_BYTES], layer[FINDINGS_LAYER_BYTES], every[48];
    snprintf(every, sizeof every, "per %s", findings_round_word(&worst->found));
    if (steps > 1)
        snprintf(every, sizeof every, "every %" PRIu64 " steps", steps);
    int length = snprintf(out, GROWTH_TEXT_BYTES, "%s %s", slope_text(bytes, slope), every);
    length += snprintf(out + length, GROWTH_TEXT_BYTES - (size_t)length, "%s",
                       lines_text(lines, &worst->found, rows, characters - (size_t)length));
    findings_layer_text(layer, study, worst->account);
    if (utf8_text_columns(out) + utf8_text_columns(layer) <= characters)
        snprintf(out + length, GROWTH_TEXT_BYTES - (size_t)length, "%s", layer);
}

/* Says which memory grows, if the verdict had no room for that. */
static int say_layer(struct opening *opening, const struct study *study, const struct worst *worst,
                     const char *growth)
{
    char layer[FINDINGS_LAYER_BYTES];
    findings_layer_text(layer, study, worst->account);
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
    const char *when = account_leak_is_afterwards(&worst->found) ? ", since the last step" : "";
    growth_text(growth, study, worst, ROWS_OF_CAUSE,
                VERDICT_WHAT_CHARACTERS - strlen("Leak: .") - strlen(when));
    page_next(opening, !account_is_of_layer(&study->history.accounts[worst->account]) ? "ledger"
                       : worst->found.is_gone                                         ? "peak"
                                              : "peak --at=end");
    return page_say(opening, VERDICT_what, "Leak: %s%s.", growth, when) < 0 ||
                   cause_say(opening, sign) < 0 || say_larger(opening, &worst->found) < 0 ||
                   say_seldom(opening, &worst->found) < 0 ||
                   say_input(opening, &worst->found, sign) < 0 ||
                   cause_say_count(opening, &worst->found, &evidence) < 0 ||
                   cause_say_holder(opening, study, &evidence) < 0 ||
                   say_held(opening, &worst->found) < 0 ||
                   findings_say_future(opening, &worst->found) < 0 ||
                   say_layer(opening, study, worst, growth) < 0 ||
                   say_beside(opening, &worst->found) < 0 ||
                   cause_say_action(opening, sign, &evidence) < 0
               ? -1
               : cause_say_release(opening, &evidence);
}

/* Says the worst leak, and names those of other kinds of memory, because each needs its own
 * change. */
static int say_leaks(struct opening *opening, const struct study *study,
                     const struct findings *findings, struct err *err)
{
    char growth[GROWTH_TEXT_BYTES];
    if (say_leak(opening, study, &findings->items[findings->first], err) < 0)
        return -1;
    for (size_t kind = 0; kind < WORST_KINDS; kind++) {
        const struct worst *worst = &findings->items[kind];
        if (kind == findings->first || worst->found.leak.verdict != LEAK_FOUND ||
            worst->found.leak.is_small)
            continue;
        growth_text(growth, study, worst, ROWS_OF_CAUSE, LINES_UNLIMITED);
        if (page_say(opening, VERDICT_what, "Another leak: %s%s.", growth,
                     kind == OF_CARD ? " in device memory" : "") < 0)
            return -1;
    }
    return 1;
}

/* --- growth that is no leak --- */

/* Writes "in step 24", "every 40 steps" or "3 times". */
static const char *collapses_text(char out[64], const struct growing *site)
{
    const struct occurrences *at = &site->sweeps->at;
    if (site->pace)
        snprintf(out, 64, "every %" PRIu64 " steps", site->pace);
    else if (at->count == 1)
        snprintf(out, 64, "in step %" PRIu64, growth_step_of_end(at->last_at));
    else
        snprintf(out, 64, "%" PRIu64 " times", at->count);
    return out;
}

/* The steepest row, if it collapses and the verdict is about such rows; else NULL. */
static const struct leak_row *saw_of(const struct account_leak *found)
{
    const struct leak *leak = &found->leak;
    const struct leak_row *row = lines_steepest(found, ROWS_OF_CAUSE);
    const bool is_of_saws =
        leak->verdict == LEAK_GROWS
            ? leak->saw_slope > leak->enlarged_slope
            : leak->verdict == LEAK_NONE && leak->saw_slope + leak->flushed_slope > 0;
    return row && row->is_saw && is_of_saws ? row : NULL;
}

/* `leaks` and `report` say a saw in the same words. */
static int say_saw(struct opening *opening, const struct study *study, const struct worst *worst,
                   const struct leak_row *row, enum verdict_role role, struct err *err)
{
    const char *denied =
        role == VERDICT_what && worst->found.leak.verdict == LEAK_NONE ? "No leak: " : "";
    char growth[GROWTH_TEXT_BYTES], when[64];
    struct leak_evidence evidence;
    if (leak_evidence_find(&evidence, study, worst->account, &worst->found, err))
        return -1;
    const struct leak_sign *sign = leak_sign_of(&evidence);
    collapses_text(when, row->first);
    growth_text(growth, study, worst, ROWS_OF_CAUSE,
                VERDICT_WHAT_CHARACTERS - strlen(denied) - strlen("+, freed at once .") -
                    strlen(when));
    return page_say(opening, role, "%s+%s, freed at once %s.", denied, growth, when) < 0 ||
                   cause_say(opening, sign) < 0 ||
                   cause_say_holder(opening, study, &evidence) < 0 ||
                   cause_say_action(opening, sign, &evidence) < 0
               ? -1
               : 1;
}

static int say_enlarged(struct opening *opening, const struct study *study,
                        const struct worst *worst)
{
    const struct leak_row *row = lines_steepest(&worst->found, ROWS_ENLARGED);
    char growth[GROWTH_TEXT_BYTES], name[VERDICT_NAME_BYTES];
    growth_text(growth, study, worst, ROWS_ENLARGED,
                VERDICT_WHAT_CHARACTERS - strlen("No leak, but kept blocks get larger: ."));
    if (row && row->first->enlarged_by_bytes && row->first->enlarged_count == 1 &&
        row->stack_count == 1) {
        if (page_say(opening, VERDICT_what,
                     "No leak, but each block is %s larger than the last, by %s.",
                     BYTES_TEXT(row->first->enlarged_by_bytes),
                     verdict_fit(name, row->blamed->label, NAME_CHARACTERS)) < 0)
            return -1;
    } else if (page_say(opening, VERDICT_what, "No leak, but kept blocks get larger: %s.", growth) <
               0)
        return -1;
    return page_say(
               opening, VERDICT_why,
               "The number of blocks stays the same: a cache of tokens, a list that is copied to "
               "make room, or longer inputs.") < 0 ||
                   findings_say_future(opening, &worst->found) < 0 ||
                   page_say(opening, VERDICT_do, "Give it its final size at once, or a limit.") < 0
               ? -1
               : 1;
}

static int say_growth(struct opening *opening, const struct study *study, const struct worst *worst,
                      struct err *err)
{
    const struct leak_row *saw = saw_of(&worst->found);
    char layer[FINDINGS_LAYER_BYTES];
    if (worst->found.growth.kept.get_larger)
        return kept_say_larger(opening, &worst->found,
                               findings_layer_text(layer, study, worst->account), VERDICT_what);
    if (worst->found.growth.lost.site_id)
        return kept_say_lost(opening, study, &worst->found, err);
    return saw ? say_saw(opening, study, worst, saw, VERDICT_what, err)
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

/* Says what the pool reserved in excess, and whether the driver's memory grew by steps, because a
 * reader who asks for a leak may have seen this growth outside the program. */
static int say_excess(struct opening *opening, const struct study *study, const struct view *view,
                      uint32_t account, struct err *err)
{
    const struct history *history = &study->history;
    const int device = history->accounts[account].device;
    const struct account *pool = &history->accounts[history_device(history, device)->leading];
    struct leak_rounds rounds;
    if (!idle_is_excess(pool, study_judged_card_bytes(study, device)))
        return 1;
    page_next(opening, "frag");
    if (leak_rounds_find(&rounds, &study->growth, pool->driver) &&
        page_say(opening, VERDICT_why,
                 "The driver's memory grew in %" PRIu64 " steps, by %s each%s.", rounds.count,
                 BYTES_TEXT(rounds.bytes), rounds.has_stopped ? ", then stopped" : "") < 0)
        return -1;
    return page_excess_answer(opening, study, view, err) < 0 ? -1 : 1;
}

/* Names the kinds of memory for which it is not known whether they leak. */
static int say_not_known(struct opening *opening, const struct findings *findings)
{
    for (size_t kind = 0; kind < WORST_KINDS; kind++) {
        const struct worst *worst = &findings->items[kind];
        if (worst->account != HISTORY_NONE && worst->found.leak.verdict == LEAK_UNKNOWN &&
            page_say(opening, VERDICT_why,
                     "Cannot tell for %s, because its bytes differ too much from step to step.",
                     findings_kind_name(kind)) < 0)
            return -1;
    }
    return 1;
}

/* Names the steepest line that grows although the live bytes as a whole do not, because the table
 * lists it. */
static int say_outweighed(struct opening *opening, const struct account_leak *found)
{
    char slope[UNITS_TEXT_BYTES];
    for (size_t i = 0; i < found->growing.count; i++) {
        const struct leak_row *row = &found->growing.items[i];
        if (row->cache || row->is_left_out || row->slope <= found->leak.floor)
            continue;
        return page_say(opening, VERDICT_why, "%s holds %s more per step; %s.", row->blamed->label,
                        slope_text(slope, row->slope),
                        row->is_saw ? "it is freed at once now and then" : "other lines hold less");
    }
    return 1;
}

static int say_none(struct opening *opening, const struct study *study, const struct view *view,
                    const struct findings *findings, struct err *err)
{
    const struct worst *worst = &findings->items[findings->first];
    const struct leak *leak = &worst->found.leak;
    const struct growth *growth = &worst->found.growth;
    const struct leak_row *saw = saw_of(&worst->found);
    char slope[UNITS_TEXT_BYTES], kinds[KINDS_TEXT_BYTES];
    uint64_t flat_since;
    int status;
    if (leak->slope > 0 && leak->slope <= leak->floor && findings->first == OF_CARD)
        return page_say(
            opening, VERDICT_what,
            "No leak: %s per step would fill the card after more than ten million steps.",
            slope_text(slope, leak->slope));
    if (saw)
        return say_saw(opening, study, worst, saw, VERDICT_what, err);
    if (growth->after.count)
        return kept_say_after(opening, &worst->found, VERDICT_what);
    if (growth->filled.site_id)
        return kept_say_filled(opening, &worst->found, VERDICT_what);
    findings_kinds_text(kinds, &flat_since, findings);
    if (flat_since)
        status = page_say(opening, VERDICT_what,
                          "No leak: live bytes%s are flat since step %" PRIu64 " of %" PRIu64 ".",
                          kinds, flat_since, growth->ends_count);
    else
        status =
            page_say(opening, VERDICT_what,
                     "No leak: live bytes%s do not grow from step to step (%" PRIu64 " steps).",
                     kinds, growth->ends_count);
    return status < 0 || say_outweighed(opening, &worst->found) < 0 ||
                   say_not_known(opening, findings) < 0 || say_cache(opening, leak) < 0 ||
                   kept_say_dropped(opening, &worst->found) < 0
               ? -1
               : say_excess(opening, study, view, worst->account, err);
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
    const bool is_of_larger = !leak->count && leak->enlarged_slope > leak->floor;
    char lines[LINES_TEXT_BYTES], slope[UNITS_TEXT_BYTES], error[UNITS_TEXT_BYTES];
    lines_text(lines, found, is_of_larger ? ROWS_ENLARGED : ROWS_OF_CAUSE, LINES_UNLIMITED);
    if (page_say(opening, VERDICT_what,
                 "Cannot tell whether memory leaks: %s per step may be chance.",
                 slope_text(slope, is_of_larger ? leak->enlarged_slope : leak->slope)) < 0)
        return -1;
    return is_of_larger
               ? page_say(
                     opening, VERDICT_why,
                     "Larger blocks replace those before%s, too few to tell from longer inputs.",
                     lines)
               : page_say(opening, VERDICT_why,
                          "In %" PRIu64 " steps the growth is known to ±%s per step%s.",
                          found->growth.ends_count, slope_text(error, (leak->high - leak->low) / 2),
                          lines);
}

/* Blocks that are all kept may be a leak, or the weights of a model. */
static int say_no_steps(struct opening *opening, const struct study *study,
                        const struct findings *findings, struct err *err)
{
    const struct worst *most = &findings->items[findings->first];
    char layer[FINDINGS_LAYER_BYTES];
    for (size_t kind = 0; kind < WORST_KINDS; kind++)
        if (findings->items[kind].found.growth.kept.bytes > most->found.growth.kept.bytes)
            most = &findings->items[kind];
    if (page_say(opening, VERDICT_what,
                 "Cannot tell whether memory leaks: the program marks no steps.") < 0 ||
        page_say(opening, VERDICT_why,
                 "No phase or allocation that repeats shows where a step begins.") < 0 ||
        kept_say_all(opening, &most->found, findings_layer_text(layer, study, most->account)) < 0 ||
        cause_say_garbage(opening, study, findings->items[findings->first].account, err) < 0)
        return -1;
    return page_say(opening, VERDICT_do,
                    "Call gpumemtrace_step() at the end of each step, or name an NVTX range "
                    "\"step\".");
}

static int say_unknown(struct opening *opening, const struct study *study,
                       const struct findings *findings, struct err *err)
{
    const struct worst *worst = &findings->items[findings->first];
    const struct growth *growth = &worst->found.growth;
    char slope[UNITS_TEXT_BYTES];
    if (worst->found.leak.waits)
        return say_waiting(opening, worst);
    if (worst->found.leak.is_unsure)
        return say_unsure(opening, &worst->found);
    if (growth->ends == STEP_ENDS)
        return say_no_steps(opening, study, findings, err);
    if (!growth->total.has_slope)
        return page_say(opening, VERDICT_what,
                        "Cannot tell whether memory leaks: %" PRIu64
                        " %s too few, at least %" PRIu64 " are needed.",
                        growth->ends_count, growth->ends_count == 1 ? "step is" : "steps are",
                        growth->needed_steps);
    return page_say(opening, VERDICT_what,
                    "Cannot tell whether memory leaks: live bytes differ much from step to step.") <
                   0
               ? -1
               : page_say(opening, VERDICT_why,
                          "A leak of up to %s per step would not show in %" PRIu64 " steps.",
                          slope_text(slope, growth->total.high), growth->ends_count);
}

/* --- the page's answers --- */

static int say_verdict(struct opening *opening, const struct study *study, const struct view *view,
                       const struct findings *findings, struct err *err)
{
    const struct worst *worst = &findings->items[findings->first];
    if (worst->account == HISTORY_NONE)
        return page_say(opening, VERDICT_what, "No leak: no GPU memory was allocated.");
    switch (worst->found.leak.verdict) {
    case LEAK_FOUND:
        return say_leaks(opening, study, findings, err);
    case LEAK_GROWS:
        return say_growth(opening, study, worst, err);
    case LEAK_NONE:
        return say_none(opening, study, view, findings, err);
    default:
        return say_unknown(opening, study, findings, err);
    }
}

int page_leaks_answer(struct opening *opening, const struct study *study, const struct view *view,
                      struct err *err)
{
    struct findings findings;
    int status = 0;
    if (findings_find(&findings, study, view, err))
        return -1;
    const struct account_leak *found = &findings.items[findings.first].found;
    if (found->leak.verdict == LEAK_FOUND && !found->leak.is_small)
        status = say_leaks(opening, study, &findings, err);
    else if (found->leak.verdict == LEAK_GROWS && !found->growth.kept.get_larger &&
             found->growth.lost.site_id)
        status = kept_say_lost(opening, study, found, err);
    findings_release(&findings);
    return status;
}

/* Growth that the peak does not show, and that is said below it. Enlarged blocks are no news there,
 * because the peak has them. */
static int say_below_peak(struct opening *opening, const struct study *study,
                          const struct worst *worst, struct err *err)
{
    const struct account_leak *found = &worst->found;
    const struct leak_row *saw = saw_of(found);
    char growth[GROWTH_TEXT_BYTES], layer[FINDINGS_LAYER_BYTES];
    if (worst->account == HISTORY_NONE)
        return 1;
    if (found->growth.kept.get_larger)
        return kept_say_larger(opening, found, findings_layer_text(layer, study, worst->account),
                               VERDICT_why);
    if (saw)
        return say_saw(opening, study, worst, saw, VERDICT_why, err);
    if (found->leak.verdict == LEAK_NONE && found->growth.after.count)
        return kept_say_after(opening, found, VERDICT_why);
    if (found->leak.verdict == LEAK_NONE && found->growth.filled.site_id)
        return kept_say_filled(opening, found, VERDICT_why);
    if (found->leak.verdict != LEAK_FOUND)
        return kept_say_dropped(opening, found) < 0 ? -1
               : found->growth.ends == STEP_ENDS
                   ? cause_say_garbage(opening, study, worst->account, err)
                   : 1;
    growth_text(growth, study, worst, ROWS_OF_CAUSE, LINES_UNLIMITED);
    return page_join(opening, VERDICT_why, "memory grows by %s", growth) < 0
               ? -1
               : findings_say_future(opening, found);
}

int page_leaks_below_peak(struct opening *opening, const struct study *study,
                          const struct view *view, struct err *err)
{
    struct findings findings;
    if (findings_find(&findings, study, view, err))
        return -1;
    const int status = say_below_peak(opening, study, &findings.items[findings.first], err);
    findings_release(&findings);
    return status;
}

int page_leaks_verdict(struct opening *opening, const struct study *study, const struct view *view,
                       struct err *err)
{
    const struct page_leaks_options *own = view->own;
    struct findings findings;
    if (findings_find(&findings, study, view, err))
        return -1;
    const int status = say_verdict(opening, study, view, &findings, err);
    *own->found |= findings.items[findings.first].found.leak.verdict == LEAK_FOUND;
    findings_release(&findings);
    return status;
}
