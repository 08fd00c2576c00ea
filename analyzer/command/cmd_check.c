/* SPDX-License-Identifier: MIT */
/* `gpumemtrace check`: exit 1 when a limit or a baseline is broken. What it says is
 * page/check.c. */
#include "answer.h"
#include "analyzer/load/memory_limit.h"
#include "output.h"

#include <string.h>

#include "analyzer/page/check.h"
#include "analyzer/page/parts.h"

struct given {
    struct option_texts max_peak;
    uint64_t max_leak_bytes, max_growth_bytes; /* UINT64_MAX: not given */
    const char *baseline;
    double tolerance_ratio;
    bool allow_incomplete;
};

/* What the parts share from trace to trace. */
struct check {
    struct given given;
    struct check_limit limits[OPTION_TEXTS_MAX];
    struct study base; /* when there is a baseline */
    struct check_results results;
    size_t first; /* result of the trace that is being shown */
};

/* --- one device --- */

static int hold_limits(struct check *check, const struct study *study, uint32_t stock,
                       struct err *err)
{
    const struct given *given = &check->given;

    for (int i = 0; i < given->max_peak.count; i++)
        if (check_peak(&check->results, study, stock, &check->limits[i], err))
            return -1;
    if (given->max_leak_bytes != UINT64_MAX &&
        check_leak(&check->results, study, stock, given->max_leak_bytes, err))
        return -1;
    if (given->max_growth_bytes != UINT64_MAX &&
        check_growth(&check->results, study, stock, given->max_growth_bytes, err))
        return -1;
    if (!given->baseline)
        return 0;
    return check_baseline(&check->results, study, stock, &check->base,
                          check_counterpart(&check->base, study, stock), given->tolerance_ratio,
                          err);
}

/* What grew since the baseline; without a baseline, everything. */
static void find_sides(const struct check *check, const struct study *study, uint32_t stock,
                       struct grown_side *before, struct grown_side *after)
{
    const struct history *base = &check->base.history;
    const uint32_t base_stock =
        check->given.baseline ? check_counterpart(&check->base, study, stock) : HISTORY_NONE;

    *before = (struct grown_side){.study = &check->base, .index = INDEX_NONE};
    *after = (struct grown_side){study, stock, study->history.stocks[stock].peak.index};
    if (base_stock != HISTORY_NONE) {
        before->stock = base_stock;
        before->index = base->stocks[base_stock].peak.index;
    }
}

static int check_device(struct doc *doc, const struct study *study, const struct device_use *use,
                        const struct view *view, struct err *err)
{
    const struct check *check = *(struct check *const *)view->own;
    const uint32_t stock = study_stock(study, use, view);
    struct grown_side before, after;
    bool passed = true;

    for (size_t i = check->first; i < check->results.count; i++)
        passed &= check->results.items[i].device != use->device || check->results.items[i].passed;
    if (passed || stock == HISTORY_NONE)
        return 0;
    find_sides(check, study, stock, &before, &after);
    return page_check_grown(doc, &before, &after, check->given.baseline, view, err);
}

/* --- one trace --- */

/* Of a broken limit on a peak: who holds most of it. */
static int say_holder(struct opening *opening, const struct check *check, const struct study *study,
                      const struct view *view, const struct check_result *broken, struct err *err)
{
    const struct history *history = &study->history;
    struct grown_side before, after;

    if (broken->is_of_phase || !strcmp(broken->kind, "growth") || !strcmp(broken->kind, "leak"))
        return 1;
    for (size_t i = 0; i < history->device_count; i++) {
        if (history->devices[i].device != broken->device)
            continue;
        find_sides(check, study, study_stock(study, &history->devices[i], view), &before, &after);
        return page_check_say_grown(opening, &before, &after, check->given.baseline, err);
    }
    return 1;
}

static int check_answer(struct opening *opening, const struct study *study, const struct view *view,
                        struct err *err)
{
    struct check *check = *(struct check *const *)view->own;
    const struct history *history = &study->history;
    const struct check_result *worst;

    check->first = check->results.count;
    for (size_t i = 0; i < history->device_count; i++) {
        const uint32_t stock = study_stock(study, &history->devices[i], view);
        if (stock != HISTORY_NONE &&
            (view->device < 0 || view->device == history->devices[i].device) &&
            hold_limits(check, study, stock, err))
            return -1;
    }
    if (page_check_say(opening, &check->results, check->first, &worst) < 0)
        return -1;
    return worst && !worst->passed ? say_holder(opening, check, study, view, worst, err) : 1;
}

static int check_trace(struct doc *doc, const struct study *study, const struct view *view,
                       struct err *err)
{
    const struct check *check = *(struct check *const *)view->own;

    if (!check->given.allow_incomplete && check_complete(&study->trace, err))
        return -1;
    return page_warnings(doc, study, view, err);
}

/* --- all of them --- */

static int print(struct check *check, const struct command_options *options, struct err *err)
{
    const bool needs_growth = check->given.max_growth_bytes != UINT64_MAX;
    const struct page page = {.schema = "gpumemtrace.check/1",
                              .needs = STUDY_NEEDS_phases | (needs_growth ? STUDY_NEEDS_growth : 0),
                              .answer = check_answer,
                              .device = check_device,
                              .tail = check_trace};
    struct view view = answer_view(options, &check);
    struct doc *doc = NULL;
    int status;

    if (check->base.symbols && symbols_set_sources(check->base.symbols, &view.sources, err))
        return -1;
    if (page_build(&doc, options->format->reads, &page, &view, options->operands,
                   options->operand_count, err))
        return -1;
    if (!check->results.count && view.layer == LAYER_pool) {
        doc_free(doc);
        err_set(err, ERR_INPUT, "no device has a framework pool to check; try --layer=driver");
        return -1;
    }
    page_check_results(doc, &check->results);
    status = command_print(doc, options, err);
    doc_free(doc);
    return status ? status : !check_all_passed(&check->results);
}

static int prepare(struct check *check, struct err *err)
{
    const struct given *given = &check->given;

    if (!given->max_peak.count && given->max_leak_bytes == UINT64_MAX &&
        given->max_growth_bytes == UINT64_MAX && !given->baseline) {
        err_set(err, ERR_USAGE,
                "nothing to check: give --max-peak=SIZE, --max-leak=SIZE, "
                "--max-growth-per-step=SIZE or --baseline=TRACE");
        return -1;
    }
    for (int i = 0; i < given->max_peak.count; i++)
        if (check_limit_parse(&check->limits[i], given->max_peak.values[i], err))
            return -1;
    if (!given->baseline)
        return 0;
    if (study_open(&check->base, given->baseline, &(struct study_ask){0}, err))
        return -1;
    return given->allow_incomplete ? 0 : check_complete(&check->base.trace, err);
}

int command_check(const struct command *command, int argc, char **argv, struct err *err)
{
    static const struct option_rule rules[] = {
        {"max-peak", 0, OPTION_TEXTS, "SIZE",
         "most live bytes at once, on each device; phase:NAME=SIZE while a phase is open; may be "
         "repeated",
         offsetof(struct given, max_peak)},
        {"max-leak", 0, OPTION_SIZE, "SIZE", "most live bytes at exit",
         offsetof(struct given, max_leak_bytes)},
        {"max-growth-per-step", 0, OPTION_SIZE, "SIZE",
         "most live bytes that call stacks may add with every step; see leaks",
         offsetof(struct given, max_growth_bytes)},
        {"baseline", 0, OPTION_TEXT, "TRACE", "an earlier trace whose peak may not be exceeded",
         offsetof(struct given, baseline)},
        {"tolerance", 0, OPTION_RATIO, "SHARE",
         "how much above the baseline is accepted (default 2%)",
         offsetof(struct given, tolerance_ratio)},
        {"allow-incomplete", 0, OPTION_FLAG, NULL,
         "check a trace even if it is incomplete or lost events",
         offsetof(struct given, allow_incomplete)},
        {0},
    };
    struct check check = {.given = {.max_leak_bytes = UINT64_MAX,
                                    .max_growth_bytes = UINT64_MAX,
                                    .tolerance_ratio = 0.02}};
    struct command_options options;
    int status = -1;

    if (options_parse(&options, command, rules, &check.given, argc, argv, err))
        return -1;
    memory_limit_set(options.memory_limit_bytes);
    if (!prepare(&check, err))
        status = print(&check, &options, err);
    study_release(&check.base);
    check_results_release(&check.results);
    return status;
}
