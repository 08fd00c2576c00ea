/* SPDX-License-Identifier: MIT */
/* `gpumemtrace check`: exit 1 when a limit or a baseline is broken. page/check/ writes
 * the answer. */
#include "answer.h"
#include "analyzer/analysis/study_open.h"
#include "analyzer/load/memory_limit.h"
#include "model_options.h"
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/page/check/check.h"
#include "analyzer/page/check/evidence.h"
#include "analyzer/page/parts.h"

enum { RETRIES_UNLIMITED = -1 };

struct given {
    struct option_texts max_peak;
    uint64_t max_leak_bytes, max_growth_bytes; /* UINT64_MAX: not given */
    double max_fragmentation_ratio;            /* below 0: not given */
    int max_retries;
    const char *baseline, *write_baseline, *estimate;
    double tolerance_ratio;
    bool allow_incomplete, allow_oom;
};

/* State that is kept from one trace to the next. */
struct check {
    struct given given;
    struct check_limit limits[OPTION_TEXTS_MAX];
    struct study base; /* set if --baseline names a trace */
    struct baseline kept;
    struct model_asked model; /* set if --estimate is given */
    struct check_base against;
    FILE *written; /* the new baseline; NULL: the user did not ask for it */
    struct check_results results;
    size_t first; /* the current trace's first result */
};

/* --- one device --- */

/* Returns the bytes to compare with the estimate. A framework's pool counts the bytes of its
 * blocks, the driver counts the bytes that were requested. */
static uint64_t estimate_bytes(const struct check *check, const struct study *study,
                               uint32_t account)
{
    const struct footprint *peak = &check->model.estimate.peak;
    return study->history.accounts[account].kind == ACCOUNT_pool ? peak->allocated_bytes
                                                                 : peak->requested_bytes;
}

static int hold_byte_limits(struct check *check, const struct study *study, uint32_t account,
                            struct err *err)
{
    const struct given *given = &check->given;
    for (int i = 0; i < given->max_peak.count; i++)
        if (check_peak(&check->results, study, account, &check->limits[i], err))
            return -1;
    if (given->max_leak_bytes != UINT64_MAX &&
        check_leak(&check->results, study, account, given->max_leak_bytes, err))
        return -1;
    if (given->max_growth_bytes != UINT64_MAX &&
        check_growth(&check->results, study, account, given->max_growth_bytes, err))
        return -1;
    if (given->estimate &&
        check_estimate(&check->results, study, account, estimate_bytes(check, study, account),
                       given->tolerance_ratio, err))
        return -1;
    if (!given->baseline)
        return 0;
    return check_baseline(&check->results, study, account,
                          check_base_bytes(&check->against, study, account), given->tolerance_ratio,
                          err);
}

static int hold_limits(struct check *check, const struct study *study, uint32_t account,
                       struct err *err)
{
    const struct given *given = &check->given;
    if (hold_byte_limits(check, study, account, err) ||
        (given->max_fragmentation_ratio >= 0 &&
         check_fragmentation(&check->results, study, account, given->max_fragmentation_ratio,
                             err)) ||
        (given->max_retries != RETRIES_UNLIMITED &&
         check_retries(&check->results, study, account, (uint64_t)given->max_retries, err)) ||
        (!given->allow_oom && check_failures(&check->results, study, account, err)))
        return -1;
    return check->written ? baseline_write_account(check->written, study, account, err) : 0;
}

/* Adds one row of evidence for each limit that this device breaks. After these rows, adds the
 * changes since the baseline. */
static int check_device(struct doc *doc, const struct study *study, const struct device_use *use,
                        const struct view *view, struct err *err)
{
    const struct check *check = *(struct check *const *)view->own;
    int status = 0;
    doc_list_begin(doc, "evidence", "Evidence");
    for (size_t i = check->first; i < check->results.count && !status; i++) {
        const struct check_result *result = &check->results.items[i];

        if (result->passed || result->device != use->device || evidence_is_change(result))
            continue;
        doc_row_begin(doc);
        doc_text(doc_detail(doc), "subject", "evidence of", result->subject);
        status = evidence_add(doc, result, &check->against, study, view, err);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    for (size_t i = check->first; i < check->results.count && !status; i++) {
        const struct check_result *result = &check->results.items[i];

        if (result->device == use->device && evidence_is_change(result))
            status = evidence_add(doc, result, &check->against, study, view, err);
    }
    return status;
}

/* --- one trace --- */

/* Names the worst broken limit in the opening. Also finds the lines to blame for the other broken
 * limits, because their results show them. If the baseline held, adds a note on the growth that the
 * tolerance allowed. */
static int blame_broken(struct opening *opening, struct check *check, const struct study *study,
                        const struct view *view, const struct check_result *worst, struct err *err)
{
    struct opening unsaid = {.err = err};
    int status = 1;
    for (size_t i = check->first; i < check->results.count && status >= 0; i++) {
        struct check_result *result = &check->results.items[i];

        if (result->passed)
            status = evidence_note(opening, result, &check->against, study, err);
        else
            status = evidence_say(result == worst ? opening : &unsaid, result, &check->against,
                                  study, view, err);
    }
    verdict_release(&unsaid.verdict);
    return status;
}

static int check_answer(struct opening *opening, const struct study *study, const struct view *view,
                        struct err *err)
{
    struct check *check = *(struct check *const *)view->own;
    const struct history *history = &study->history;
    struct check_result *worst;
    check->first = check->results.count;
    for (size_t i = 0; i < history->device_count; i++) {
        const uint32_t account = study_account(study, &history->devices[i], view);
        if (account != HISTORY_NONE &&
            (view->device < 0 || view->device == history->devices[i].device) &&
            hold_limits(check, study, account, err))
            return -1;
    }
    if (page_check_say(opening, &check->results, check->first, &worst) < 0)
        return -1;
    return blame_broken(opening, check, study, view, worst, err);
}

static int check_trace(struct doc *doc, const struct study *study, const struct view *view,
                       struct err *err)
{
    const struct check *check = *(struct check *const *)view->own;
    if (!check->given.allow_incomplete && check_complete(&study->trace, err))
        return -1;
    return page_series(doc, study, view, err) ? -1 : page_warnings(doc, study, view, err);
}

/* --- all traces --- */

static int check_twin(const struct view *view, const char *path, const char *twin, struct err *err)
{
    struct check *check = *(struct check *const *)view->own;
    return check_results_repeat(&check->results, twin, path, err);
}

/* True if all given limits are for peaks, so that a twin can take over the trace's results. A trace
 * and its twin have equal peaks, but may differ in leaks, growth, fragmentation and phases. */
static bool is_of_peaks(const struct check *check)
{
    const struct given *given = &check->given;
    bool is_of_phase = false;
    for (int i = 0; i < given->max_peak.count; i++)
        is_of_phase |= check->limits[i].phase != NULL;
    return !is_of_phase && given->max_leak_bytes == UINT64_MAX &&
           given->max_growth_bytes == UINT64_MAX && given->max_fragmentation_ratio < 0;
}

static bool has_limit(const struct given *given)
{
    return given->max_peak.count || given->max_leak_bytes != UINT64_MAX ||
           given->max_growth_bytes != UINT64_MAX || given->max_fragmentation_ratio >= 0 ||
           given->max_retries != RETRIES_UNLIMITED || given->baseline || given->estimate;
}

/* Refuses a check that compared nothing. Without a limit, only failed allocations are checked, so a
 * check without a limit and without a failure must not look like one that passed. */
static int check_compared(const struct check *check, const struct view *view, struct err *err)
{
    if (check->results.count || check->given.write_baseline)
        return 0;
    if (!has_limit(&check->given))
        err_set(err, ERR_USAGE,
                "nothing to check: no allocation failed, and there is no limit; give "
                "--max-peak=SIZE, --max-live-at-exit=SIZE, --max-growth-per-step=SIZE, "
                "--max-fragmentation=RATIO, --max-retries=N, --baseline=FILE or --estimate=MODEL");
    else if (view->layer == LAYER_pool)
        err_set(err, ERR_INPUT, "no device has a framework pool to check; try --layer=driver");
    else
        return 0;
    return -1;
}

static int print(struct check *check, const struct command_options *options, struct err *err)
{
    const struct given *given = &check->given;
    const unsigned needs = (given->max_growth_bytes != UINT64_MAX ? STUDY_NEEDS_growth : 0) |
                           (given->baseline || given->write_baseline ? STUDY_NEEDS_births : 0);
    const struct page page = {.schema = "gpumemtrace.check/1",
                              .needs = STUDY_NEEDS_phases | needs,
                              .ask = page_series_ask,
                              .answer = check_answer,
                              .device = check_device,
                              .takes_each = true,
                              .twin = is_of_peaks(check) ? check_twin : NULL,
                              .tail = check_trace};
    struct view view = answer_view(options, &check);
    struct doc *doc = NULL;
    int status;
    if (check->base.symbols && symbols_set_sources(check->base.symbols, &view.sources, err))
        return -1;
    if (answer_build(&doc, &page, &view, options, err))
        return -1;
    if (check_compared(check, &view, err)) {
        doc_free(doc);
        return -1;
    }
    page_check_results(doc, &check->results);
    status = command_print(doc, options, err);
    doc_free(doc);
    return status ? status : !check_all_passed(&check->results);
}

/* Prints the page and writes the new baseline. A rename replaces the old baseline only after the
 * new one was written completely. */
static int print_and_write(struct check *check, const struct command_options *options,
                           struct err *err)
{
    const char *path = check->given.write_baseline;
    char *part = NULL;
    int status = -1;
    if (!path)
        return print(check, options, err);
    if (options->operand_count > 1)
        return err_set(err, ERR_USAGE, "--write-baseline is for one TRACE");
    if (asprintf(&part, "%s.part", path) < 0 || !(check->written = fopen(part, "we"))) {
        err_set(err, ERR_SYSTEM, "cannot write the baseline %.300s: %s", path, strerror(errno));
        goto out;
    }
    baseline_write_head(check->written);
    status = print(check, options, err);
    baseline_write_end(check->written);
    const bool failed = ferror(check->written) != 0;
    if ((fclose(check->written) || failed || (status >= 0 && rename(part, path))) && status >= 0) {
        err_set(err, ERR_SYSTEM, "cannot write the baseline %.300s: %s", path, strerror(errno));
        status = -1;
    }
    if (status < 0)
        unlink(part);
out:
    free(part);
    return status;
}

/* Opens the baseline: a file that --write-baseline wrote, or a trace. */
static int open_baseline(struct check *check, struct err *err)
{
    const int is_kept = baseline_load(&check->kept, check->given.baseline, err);
    if (is_kept) {
        check->against.kept = &check->kept;
        return is_kept < 0 ? -1 : 0;
    }
    if (study_open(&check->base, check->given.baseline,
                   &(struct study_ask){.needs = STUDY_NEEDS_births}, err))
        return -1;
    trace_pause_events(&check->base.trace);
    check->against.study = &check->base;
    return check->given.allow_incomplete ? 0 : check_complete(&check->base.trace, err);
}

static int open_estimate(struct check *check, struct err *err)
{
    if (model_asked_open(&check->model, check->given.estimate, err) ||
        model_asked_estimate(&check->model, err))
        return -1;
    check->against.estimate = &check->model.estimate;
    return 0;
}

static int prepare(struct check *check, struct err *err)
{
    const struct given *given = &check->given;
    for (int i = 0; i < given->max_peak.count; i++)
        if (check_limit_parse(&check->limits[i], given->max_peak.values[i], err))
            return -1;
    if (given->estimate && open_estimate(check, err))
        return -1;
    return given->baseline ? open_baseline(check, err) : 0;
}

/* Explains that a phase can have a limit for its peak, but none for its exit, growth or
 * baseline. */
static void explain_phase(struct err *err)
{
    const size_t length = strlen(err->message);
    if (strstr(err->message, "'phase:"))
        snprintf(err->message + length, sizeof err->message - length,
                 "; a phase can be given to --max-peak only");
}

int command_check(const struct command *command, int argc, char **argv, struct err *err)
{
    static const struct option_rule rules[] = {
        {"max-peak", 0, OPTION_TEXTS, "SIZE",
         "limit of the live bytes at the peak, for each device; phase:NAME=SIZE: while that "
         "phase is open; may be repeated",
         offsetof(struct given, max_peak)},
        {"max-live-at-exit", 0, OPTION_SIZE, "SIZE", "limit of the live bytes at exit",
         offsetof(struct given, max_leak_bytes)},
        {"max-leak", 0, OPTION_SIZE, "SIZE", "the same as --max-live-at-exit",
         offsetof(struct given, max_leak_bytes)},
        {"max-growth-per-step", 0, OPTION_SIZE, "SIZE",
         "limit of the live bytes that call stacks add with every step; see leaks",
         offsetof(struct given, max_growth_bytes)},
        {"max-fragmentation", 0, OPTION_RATIO, "RATIO",
         "limit of the external fragmentation at the peak; see frag",
         offsetof(struct given, max_fragmentation_ratio)},
        {"max-retries", 0, OPTION_INDEX, "N",
         "limit of the refused requests that were served after the framework flushed its cache; "
         "see oom",
         offsetof(struct given, max_retries)},
        {"allow-oom", 0, OPTION_FLAG, NULL, "accept failed allocations, caught or fatal",
         offsetof(struct given, allow_oom)},
        {"baseline", 0, OPTION_TEXT, "FILE",
         "an earlier trace, or a file of --write-baseline; its peak may not be exceeded",
         offsetof(struct given, baseline)},
        {"write-baseline", 0, OPTION_TEXT, "FILE",
         "write the sites of the peak into FILE, one line for each call path",
         offsetof(struct given, write_baseline)},
        {"estimate", 0, OPTION_TEXT, "MODEL",
         "a model, or a file that names a model and options of 'estimate'; the peak may not "
         "exceed the estimated peak",
         offsetof(struct given, estimate)},
        {"tolerance", 0, OPTION_RATIO, "SHARE",
         "accepted excess over the baseline or the estimate (default 2%)",
         offsetof(struct given, tolerance_ratio)},
        {"allow-incomplete", 0, OPTION_FLAG, NULL,
         "check a trace even if it is incomplete or lost events",
         offsetof(struct given, allow_incomplete)},
        {0},
    };
    struct check check = {.given = {.max_leak_bytes = UINT64_MAX,
                                    .max_growth_bytes = UINT64_MAX,
                                    .max_fragmentation_ratio = -1,
                                    .max_retries = RETRIES_UNLIMITED,
                                    .tolerance_ratio = 0.02}};
    struct command_options options;
    int status = -1;
    if (options_parse(&options, command, rules, &check.given, argc, argv, err)) {
        explain_phase(err);
        return -1;
    }
    memory_limit_set(options.memory_limit_bytes);
    if (!prepare(&check, err))
        status = print_and_write(&check, &options, err);
    model_asked_release(&check.model);
    study_release(&check.base);
    baseline_release(&check.kept);
    check_results_release(&check.results);
    return status;
}
