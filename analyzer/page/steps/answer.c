/* SPDX-License-Identifier: MIT */
/* The answer of `steps`: names the step that stands out and the reason, or says that none stands
 * out. */
#include "analyzer/page/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"
#include "analyzer/thresholds/thresholds.h"
#include "analyzer/analysis/leaks.h"
#include "analyzer/analysis/sites.h"
#include "analyzer/page/leaks/kept.h"
#include "analyzer/render/units.h"
#include "analyzer/util/array.h"

/* --- findings --- */

const struct blamed *step_findings_of_site(const struct step_findings *found,
                                           const struct outlier_site *site)
{
    return blame_of(&found->blame, site->site_id);
}

const struct blamed *step_findings_of_age(const struct step_findings *found, enum age age)
{
    return blame_of(&found->blame, found->ages.rows[age].site_id);
}

static int blame_all(struct step_findings *found, struct symbols *symbols, struct err *err)
{
    const struct outlier *outlier = &found->outlier;
    uint64_t *sites = array_new(outlier->count + AGE_COUNT + 1, sizeof *sites, err);
    size_t count = 0;
    if (!sites)
        return -1;
    for (size_t i = 0; i < outlier->count; i++)
        sites[count++] = outlier->sites[i].site_id;
    for (int age = 0; age < AGE_COUNT; age++)
        sites[count++] = found->ages.rows[age].site_id;
    sites[count++] = found->ages.left.site_id;
    const int status = blame_sites(&found->blame, symbols, sites, count, err);
    free(sites);
    return status;
}

/* The bytes of the site that the cause explains. holds: only those live at the failure count,
 * because blocks that were freed before did not fill the card. */
static double explained_bytes(const struct outlier *outlier, const struct outlier_site *site,
                              bool holds)
{
    if (site->is_new)
        return (double)(holds ? site->held_bytes : site->bytes);
    return outlier->is_open ? outlier_larger_bytes(site)
                            : (double)site->bytes - site->typical_bytes;
}

/* Returns the largest site that is new (is_new) or known; NULL: there is none. */
static const struct outlier_site *find_most(const struct outlier *outlier, bool is_new, bool holds)
{
    const struct outlier_site *most = NULL;
    double most_bytes = 0;
    for (size_t i = 0; i < outlier->count; i++) {
        const struct outlier_site *site = &outlier->sites[i];
        const double bytes = explained_bytes(outlier, site, holds);
        if (site->is_new != is_new || bytes <= most_bytes)
            continue;
        most = site;
        most_bytes = bytes;
    }
    return most;
}

/* False if the step after the block's own may need it: weights, states, and gradients of a backward
 * that ended the step, because the optimizer uses them only then. */
static bool is_left(const void *self, const struct block *block)
{
    const struct study *study = self;
    const bool ends_with_backward =
        study->steps.kind == STEP_END_BACKWARD || study->steps.kind == STEP_END_INFERRED_BACKWARD;
    return !categories_stays(&study->categories, block) &&
           !(ends_with_backward && categories_of(&study->categories, block) == CATEGORY_gradients);
}

int step_findings_find(struct step_findings *found, const struct study *study, uint32_t account,
                       struct err *err)
{
    *found = (struct step_findings){0};
    if (outlier_find(&found->outlier, &study->steps, &study->history, account, err))
        return -1;
    const struct block_filter left = {study, is_left};
    if (!ages_at_peak(&found->ages, &study->steps, &study->history, account, &left, err) &&
        !blame_all(found, study->symbols, err))
        return 0;
    outlier_release(&found->outlier);
    return -1;
}

void step_findings_release(struct step_findings *found)
{
    blame_release(&found->blame);
    outlier_release(&found->outlier);
}

/* --- the step --- */

#define WHO_BYTES (BLAME_TEXT_BYTES + UNITS_TEXT_BYTES + 16)

static double sum_explained(const struct outlier *outlier, bool is_new, bool holds)
{
    double bytes = 0;
    for (size_t i = 0; i < outlier->count; i++)
        if (outlier->sites[i].is_new == is_new)
            bytes += explained_bytes(outlier, &outlier->sites[i], holds);
    return bytes;
}

/* Writes ", most of it by train.py:88 forward (3.20 GiB)", for the largest site that is new
 * (is_new) or known. If the site made at most half, writes "the largest part" in place of "most of
 * it". */
static const char *most_text(char out[WHO_BYTES], const struct step_findings *found, bool is_new,
                             bool holds)
{
    const struct outlier *outlier = &found->outlier;
    const double all = sum_explained(outlier, is_new, holds);
    const struct outlier_site *most = find_most(outlier, is_new, holds);
    const double most_bytes = most ? explained_bytes(outlier, most, holds) : 0;
    *out = 0;
    if (most)
        snprintf(out, WHO_BYTES, ", %s by %s (%s%s)",
                 most_bytes > all / 2 ? "most of it" : "the largest part",
                 step_findings_of_site(found, most)->label, is_new ? "" : "+",
                 BYTES_TEXT((uint64_t)(most_bytes + 0.5)));
    return out;
}

/* Says how much was live when the step began. Suggests `leaks` if the account leaks or its blocks
 * grow. */
static int say_began(struct opening *opening, const struct study *study, uint32_t account,
                     const struct outlier *outlier, struct err *err)
{
    struct account_leak found;
    if (account_leak_find(&found, study, account, err))
        return -1;
    const enum leak_verdict verdict = found.leak.verdict;
    account_leak_release(&found);
    page_next(opening, verdict >= LEAK_GROWS ? "leaks" : outlier->is_open ? "oom" : "peak");
    return page_join(opening, VERDICT_why,
                     "%s was live when step %" PRIu64 " began, typically %s: %s",
                     BYTES_TEXT(outlier->step.start_bytes), outlier->step.number,
                     BYTES_TEXT(outlier->typical_start_bytes),
                     verdict == LEAK_FOUND   ? "a rising line, a leak"
                     : verdict == LEAK_GROWS ? "a rising line, a buffer that gets larger"
                                             : "memory of earlier steps was kept");
}

/* Says why the call stacks asked for more. A batch that is longer than others comes among shorter
 * ones, so requests that never got smaller show none. */
static const char *more_reason(const struct study *study, uint32_t account,
                               const struct outlier *outlier)
{
    const struct growth_watch *growth = &study->growth;
    const struct account_ends *own =
        outlier->count && account < growth->account_count ? &growth->accounts[account] : NULL;
    const uint32_t number =
        own ? site_numbers_get(&own->numbers, outlier->sites[0].site_id) : PAIR_MAP_NONE;
    if (number != PAIR_MAP_NONE && rising_never_falls(&own->sites[number].blocks.sizes))
        return "larger from step to step";
    return outlier->is_open ? "a longer batch or sequence" : "a longer batch or more of the same";
}

/* Says the path of the new call stacks. An evaluation is not recorded by autograd, and the rest of
 * the program is. */
static const char *path_reason(const struct study *study, uint32_t account,
                               const struct outlier *outlier)
{
    const struct growth_watch *growth = &study->growth;
    const struct account_ends *own =
        account < growth->account_count ? &growth->accounts[account] : NULL;
    uint64_t new_count = 0, all_count = 0;
    for (size_t i = 0; own && i < own->count; i++)
        all_count += own->sites[i].blocks.graph_births_count;
    for (size_t i = 0; i < outlier->count && all_count; i++) {
        const uint32_t number = site_numbers_get(&own->numbers, outlier->sites[i].site_id);
        if (outlier->sites[i].is_new && number < own->count)
            new_count += own->sites[number].blocks.graph_births_count;
    }
    return all_count && !new_count ? "another path through the program, without autograd, such as "
                                     "an evaluation"
                                   : "another path through the program";
}

/* True if the line keeps blocks that it replaces by larger ones. */
static bool is_enlarging(const struct leak_rows *growing, const char *label)
{
    for (size_t i = 0; i < growing->count; i++)
        if (growing->items[i].is_enlarged && !strcmp(growing->items[i].blamed->label, label))
            return true;
    return false;
}

/* Finds the line of the largest new call stack if it and others like it made most of the new
 * memory, and keep blocks that they replace by larger ones, as lines that add rows to the
 * parameters every hundred steps. *label is NULL if not. */
static int find_enlarging(const char **label, const struct study *study, uint32_t account,
                          const struct step_findings *found, bool holds, struct err *err)
{
    const struct outlier *outlier = &found->outlier;
    const struct outlier_site *most = find_most(outlier, true, holds);
    struct account_leak leak;
    double bytes = 0;
    *label = NULL;
    if (account_leak_find(&leak, study, account, err))
        return -1;
    for (size_t i = 0; i < outlier->count && leak.leak.verdict == LEAK_GROWS; i++)
        if (outlier->sites[i].is_new &&
            is_enlarging(&leak.growing, step_findings_of_site(found, &outlier->sites[i])->label))
            bytes += explained_bytes(outlier, &outlier->sites[i], holds);
    const char *name = most ? step_findings_of_site(found, most)->label : "";
    if (bytes > sum_explained(outlier, true, holds) / 2 && is_enlarging(&leak.growing, name))
        *label = name;
    account_leak_release(&leak);
    return 0;
}

/* Says what the call stacks made that most other steps do not have. */
static int say_new(struct opening *opening, const struct study *study, uint32_t account,
                   const struct step_findings *found, bool holds, struct err *err)
{
    char most[WHO_BYTES];
    const char *enlarging;
    if (find_enlarging(&enlarging, study, account, found, holds, err))
        return -1;
    if (enlarging)
        page_next(opening, "leaks");
    const int status = page_join(
        opening, VERDICT_why,
        "in step %" PRIu64 ", call stacks that %sother steps do not have %s %s%s: %s",
        found->outlier.step.number, found->outlier.new_has_others ? "most " : "",
        holds ? "hold" : "allocated",
        BYTES_TEXT((uint64_t)sum_explained(&found->outlier, true, holds)),
        most_text(most, found, true, holds),
        enlarging ? "kept blocks that get larger" : path_reason(study, account, &found->outlier));
    if (status < 0 || !enlarging || !holds)
        return status;
    opening->failure_is_of_leak = true;
    return page_say(opening, VERDICT_do, "Give the blocks of %s their final size, or a limit.",
                    enlarging);
}

/* holds: the sentence is about the failure of an allocation. */
static int say_cause(struct opening *opening, const struct study *study, uint32_t account,
                     const struct step_findings *found, bool holds, struct err *err)
{
    const uint64_t number = found->outlier.step.number;
    const bool is_open = found->outlier.is_open;
    char most[WHO_BYTES];
    switch (found->outlier.cause) {
    case OUTLIER_FIRST:
        return page_join(
            opening, VERDICT_why,
            "it is the first step, which also makes everything that is made only once");
    case OUTLIER_BEGAN:
        return say_began(opening, study, account, &found->outlier, err);
    case OUTLIER_NEW:
        return say_new(opening, study, account, found, holds, err);
    case OUTLIER_MORE:
        return page_join(opening, VERDICT_why,
                         "in step %" PRIu64
                         ", the same call stacks %s %.2f times as %s as in other steps%s: %s",
                         number, is_open ? "asked for blocks" : "allocated",
                         is_open ? found->outlier.larger_ratio : found->outlier.more_ratio,
                         is_open ? "large" : "much", most_text(most, found, false, holds),
                         more_reason(study, account, &found->outlier));
    case OUTLIER_KEPT:
        return page_join(opening, VERDICT_why,
                         "in step %" PRIu64 ", the call stacks allocated no more than in other "
                         "steps, but more of it was live at once",
                         number);
    default:
        return 1;
    }
}

static void say_step(struct opening *opening, const struct study *study,
                     const struct outlier *outlier)
{
    const struct step *step = &outlier->step;
    const char *peak = BYTES_TEXT(step->peak_bytes);
    const char *typical = BYTES_TEXT(outlier->typical_peak_bytes);
    if (outlier->is_open)
        page_say(opening, VERDICT_what,
                 "Step %" PRIu64 " did not end: %s was refused; it peaked at %s%s%s.", step->number,
                 REQUEST_TEXT(outlier->failure->event.size_bytes), peak,
                 outlier->has_typical ? ", typically " : "", outlier->has_typical ? typical : "");
    else if (outlier->cause == OUTLIER_NONE)
        page_say(opening, VERDICT_what,
                 "No step stands out: step %" PRIu64 " of %" PRIu64
                 " peaked highest, at %s, a typical one at %s.",
                 step->number, study->steps.step_count, peak, typical);
    else
        page_say(opening, VERDICT_what,
                 "Step %" PRIu64 " of %" PRIu64
                 " peaked at %s, %.1f times the %s of a typical step.",
                 step->number, study->steps.step_count, peak,
                 (double)step->peak_bytes / (double)outlier->typical_peak_bytes, typical);
}

/* Says what the previous step left behind, if that is at least a twentieth of the peak. */
static void say_ages(struct opening *opening, const struct study *study, uint32_t account,
                     const struct step_findings *found)
{
    const uint64_t bytes = found->ages.left.bytes;
    if (!bytes || bytes < study->history.accounts[account].peak_bytes / 20 ||
        found->ages.ordinal != found->outlier.step.ordinal)
        return;
    page_say(opening, VERDICT_why,
             "At the peak %s of the previous step is still live; %s holds most of it.",
             BYTES_TEXT(bytes), blame_of(&found->blame, found->ages.left.site_id)->label);
}

/* Says where a step begins, if the program marks no steps. */
static int say_period(struct opening *opening, const struct study *study, struct err *err)
{
    char label[BLAME_TEXT_BYTES];
    const char *phase = study->ends.period.phase.name;
    const uint64_t site_id = study->ends.period.site_id;
    if (phase)
        return page_say(
            opening, VERDICT_why,
            "The program marks no steps, so each occurrence of the phase \"%s\" is taken for one.",
            phase);
    if (!site_id)
        return 1;
    if (blame_alone(label, study->symbols, site_id, err) < 0)
        return -1;
    return page_say(opening, VERDICT_why,
                    step_period_role(&study->ends.period, site_stack(site_id)) & ROUND_DROPS
                        ? "The program marks no steps, so a step is taken to end when blocks of %s "
                          "are freed all at once."
                        : "The program marks no steps, so a step is taken to begin each time that "
                          "%s allocates after other lines.",
                    label);
}

/* Names the variable that keeps most of the memory that was live when the step began, if a walk
 * near the peak, or at the failure that ended the step, found it. */
static int say_keeper(struct opening *opening, const struct study *study, uint32_t account,
                      const struct outlier *outlier, struct err *err)
{
    const struct failure *failure = outlier->failure;
    const struct held_ask ask = {.account = account,
                                 .index = failure ? failure->at.index
                                                  : study->history.accounts[account].peak.index,
                                 .is_failure = failure != NULL,
                                 .born_before = outlier->step.begin_index};
    struct held_sums sums;
    if (outlier->cause != OUTLIER_BEGAN)
        return 1;
    if (held_sums_find(&sums, &study->holders, &study->history, &ask, err))
        return -1;
    const struct held_sum *most =
        sums.bytes >= outlier->step.start_bytes / 2 ? held_sums_most(&sums) : NULL;
    const int status = most ? page_say_holder(opening, study, most, sums.bytes, sums.at) : 1;
    held_sums_release(&sums);
    return status;
}

/* Says a peak after the last step, as of a validation, which no step shows. */
static void say_later_peak(struct opening *opening, const struct study *study, uint32_t account,
                           const struct outlier *outlier)
{
    const struct account *of = &study->history.accounts[account];
    if (!outlier->is_open && of->peak.index >= study->steps.recent_ends[0] &&
        of->peak_bytes > outlier->step.peak_bytes)
        page_say(opening, VERDICT_why, "The peak of the run, %s, came after the last step.",
                 BYTES_TEXT(of->peak_bytes));
}

/* Says what is kept after the last step, which no step shows, in the words of `leaks`. */
static int say_afterwards(struct opening *opening, const struct study *study,
                          const struct view *view, uint32_t account, struct err *err)
{
    struct account_leak found;
    int status = 1;
    if (account_leak_find(&found, study, account, err))
        return -1;
    if (found.leak.verdict == LEAK_FOUND && account_leak_is_afterwards(&found)) {
        page_next(opening, "leaks");
        status = page_explain(opening, page_leaks_answer, false, study, view, err);
    } else if (found.leak.verdict == LEAK_NONE && found.growth.after.count) {
        page_next(opening, "leaks");
        status = kept_say_after(opening, &found, VERDICT_why);
    }
    account_leak_release(&found);
    return status;
}

static int say_steps(struct opening *opening, const struct study *study, const struct view *view,
                     uint32_t account, const struct step_findings *found, struct err *err)
{
    page_next(opening, found->outlier.is_open ? "oom" : "peak");
    say_step(opening, study, &found->outlier);
    say_later_peak(opening, study, account, &found->outlier);
    if (say_cause(opening, study, account, found, false, err) < 0 ||
        say_keeper(opening, study, account, &found->outlier, err) < 0 ||
        say_afterwards(opening, study, view, account, err) < 0)
        return -1;
    say_ages(opening, study, account, found);
    return say_period(opening, study, err);
}

/* Leaks of the memory that failed explain the failure. */
static struct view view_of_failure(const struct account *account, const struct view *view)
{
    struct view of_layer = *view;
    of_layer.layer = account->kind == ACCOUNT_pool ? LAYER_pool : LAYER_driver;
    of_layer.device = account->device;
    return of_layer;
}

int page_leak_of_failure(struct opening *opening, const struct study *study,
                         const struct view *view, uint32_t account, uint64_t live_bytes,
                         struct err *err)
{
    const struct view of_layer = view_of_failure(&study->history.accounts[account], view);
    struct account_leak found;
    if (account_leak_find(&found, study, account, err))
        return -1;
    const bool is_cause = found.leak.verdict == LEAK_FOUND &&
                          account_leak_bytes(&found) >= live_bytes / LEAK_OF_FAILURE_DIVISOR;
    account_leak_release(&found);
    return is_cause ? page_explain(opening, page_leaks_answer, true, study, &of_layer, err) : 0;
}

int page_step_of_failure(struct opening *opening, const struct study *study,
                         const struct view *view, const struct failure *failure, struct err *err)
{
    const struct account *account = &study->history.accounts[failure->account];
    const struct view of_layer = view_of_failure(account, view);
    struct step_findings found;
    int status = 0;
    if (!study->steps.step_count)
        return 0;
    if (step_findings_find(&found, study, failure->account, err))
        return -1;
    const double explained = found.outlier.cause == OUTLIER_NEW
                                 ? sum_explained(&found.outlier, true, true)
                                 : found.outlier.cause_bytes;
    /* A cause that explains less than half of the requested bytes does not explain the failure. */
    const bool explains = explained * 2 >= (double)failure->event.size_bytes;
    const bool is_of_path = found.outlier.cause == OUTLIER_NEW && found.outlier.request_is_new;
    if (found.outlier.failure == failure && found.outlier.cause != OUTLIER_NONE &&
        (explains || is_of_path)) {
        status = say_cause(opening, study, failure->account, &found, true, err);
        /* Memory of earlier steps may be freed later in the step. */
        if (found.outlier.cause == OUTLIER_MORE)
            opening->failed_step_bytes = (double)found.outlier.typical_peak_bytes + explained;
        /* The path tells where a request is made that alone is larger, and not why it is. */
        if (status > 0 && !explains)
            status = 0;
    }
    if (status > 0 && found.outlier.cause == OUTLIER_BEGAN)
        status =
            page_explain(opening, page_leaks_answer, false, study, &of_layer, err) < 0 ? -1 : 1;
    step_findings_release(&found);
    return status;
}

/* Returns the account of the device with the highest peak. */
static uint32_t choose_account(const struct study *study, const struct view *view)
{
    const struct history *history = &study->history;
    uint32_t found = HISTORY_NONE;
    for (size_t i = 0; i < history->device_count; i++) {
        const struct device_use *use = &history->devices[i];
        const uint32_t account = study_account(study, use, view);
        if (account == HISTORY_NONE || !step_watch_of(&study->steps, account) ||
            (view->device >= 0 && view->device != use->device))
            continue;
        if (found == HISTORY_NONE ||
            history->accounts[account].peak_bytes > history->accounts[found].peak_bytes)
            found = account;
    }
    return found;
}

int page_steps_answer(struct opening *opening, const struct study *study, const struct view *view,
                      struct err *err)
{
    const uint32_t account = choose_account(study, view);
    struct step_findings found;
    if (account == HISTORY_NONE)
        return page_say(opening, VERDICT_what, "No GPU memory was allocated.");
    if (!study->steps.step_count) {
        page_say(opening, VERDICT_what,
                 "The trace has no steps, and nothing that repeats shows where one begins.");
        return page_say(opening, VERDICT_do,
                        "Call gpumemtrace_step() at the end of each, or name an NVTX range "
                        "\"step\" (torch.cuda.nvtx.range_push).");
    }
    if (step_findings_find(&found, study, account, err))
        return -1;
    const int status =
        found.outlier.has_typical || found.outlier.is_open
            ? say_steps(opening, study, view, account, &found, err)
            : page_say(opening, VERDICT_what,
                       "Only one step ended, so there is no other step to compare it with.");
    step_findings_release(&found);
    return status;
}
