/* SPDX-License-Identifier: MIT */
/* `gpumemtrace check`: exit 1 when a limit or a baseline is broken. */
#include "analyzer/command.h"
#include "answer.h"

#include "analyzer/analysis/check.h"
#include "analyzer/analysis/grown.h"
#include "analyzer/render/units.h"

struct given {
    struct option_texts max_peak;
    uint64_t max_leak_bytes;
    const char *baseline;
    double tolerance_ratio;
    bool allow_incomplete;
};

/* What the parts share while the traces go by. */
struct check {
    struct given given;
    struct check_limit limits[OPTION_TEXTS_MAX];
    struct study base; /* when there is a baseline */
    struct check_results results;
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
    if (!given->baseline)
        return 0;
    return check_baseline(&check->results, study, stock, &check->base,
                          check_counterpart(&check->base, study, stock), given->tolerance_ratio,
                          err);
}

/* What grew since the baseline; without one everything did. */
static int add_grown(struct doc *doc, const struct check *check, const struct study *study,
                     uint32_t stock, const struct view *view, struct err *err)
{
    enum { GROWN_LINES = 6 };
    struct grown_side before = {.study = &check->base, .index = HISTORY_NONE};
    struct grown_side after = {study, stock, study->history.stocks[stock].peak_index};
    uint32_t base_stock = HISTORY_NONE;
    bool people = view->people;
    struct grown grown;
    size_t limit;
    int status = 0;

    if (check->given.baseline)
        base_stock = check_counterpart(&check->base, study, stock);
    if (base_stock != HISTORY_NONE) {
        before.stock = base_stock;
        before.index = check->base.history.stocks[base_stock].peak_index;
    }
    if (grown_find(&grown, &before, &after, err))
        return -1;
    limit = view_limit(view, grown.count);
    doc_list_begin(doc, "grown",
                   !people                 ? NULL
                   : check->given.baseline ? "Call stacks that grew since the baseline"
                                           : "Who held it at the peak");
    for (size_t i = 0; i < limit && !status; i++) {
        const struct grown_site *site = &grown.items[i];

        doc_row_begin(doc);
        doc_integer(doc, "delta_bytes", people ? "Grew by" : NULL, DOC_DELTA,
                    (int64_t)(site->after_bytes - site->before_bytes));
        doc_bytes(doc, "before_bytes", people ? "From" : NULL, site->before_bytes);
        doc_bytes(doc, "after_bytes", people ? "To" : NULL, site->after_bytes);
        status = docs_frames(doc, study, view, site->stack_id, GROWN_LINES, err);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    grown_release(&grown);
    return status;
}

static int add_device(struct doc *doc, const struct study *study, const struct device_use *use,
                      const struct view *view, struct err *err)
{
    struct check *check = *(struct check *const *)view->own;
    uint32_t stock = study_stock(study, use, view);
    size_t first = check->results.count;
    bool passed = true;

    if (stock == HISTORY_NONE)
        return 0;
    if (hold_limits(check, study, stock, err))
        return -1;
    for (size_t i = first; i < check->results.count; i++)
        passed &= check->results.items[i].passed;
    return passed ? 0 : add_grown(doc, check, study, stock, view, err);
}

static int add_tail(struct doc *doc, const struct study *study, const struct view *view,
                    struct err *err)
{
    const struct check *check = *(struct check *const *)view->own;

    if (!check->given.allow_incomplete && check_complete(&study->trace, err))
        return -1;
    return docs_warnings(doc, study, view, err);
}

/* --- all of them --- */

static void add_result(struct doc *doc, const struct check_result *result, bool people)
{
    char measured[UNITS_TEXT_BYTES], limit[UNITS_TEXT_BYTES];

    doc_row_begin(doc);
    doc_textf(doc, "name", NULL, "%s: %s", result->trace, result->subject);
    doc_bool(doc, "passed", NULL, result->passed);
    doc_text(doc, NULL, people ? "Result" : NULL, result->passed ? "ok" : "BROKEN");
    doc_text(doc, "subject", people ? "What" : NULL, result->subject);
    doc_bytes(doc, "measured_bytes", people ? "Measured" : NULL, result->measured_bytes);
    doc_bytes(doc, "limit_bytes", people ? "Limit" : NULL, result->limit_bytes);
    doc_textf(doc, "message", NULL, "%s is %s (%llu bytes), the limit is %s (%llu bytes)",
              result->subject, units_bytes(measured, result->measured_bytes),
              (unsigned long long)result->measured_bytes, units_bytes(limit, result->limit_bytes),
              (unsigned long long)result->limit_bytes);
    doc_text(doc, "kind", NULL, result->kind);
    doc_text(doc, "trace", people ? "Trace" : NULL, result->trace);
    if (result->device == DEVICE_UNKNOWN)
        doc_null(doc, "device", NULL, DOC_COUNT);
    else
        doc_count(doc, "device", NULL, (uint64_t)result->device);
    doc_row_end(doc);
}

static void add_results(struct doc *doc, const struct check_results *results, bool people)
{
    doc_bool(doc, "passed", NULL, check_all_passed(results));
    doc_list_begin(doc, "checks", people ? "Checks" : NULL);
    for (size_t i = 0; i < results->count; i++)
        add_result(doc, &results->items[i], people);
    doc_list_end(doc);
}

static int print(struct check *check, const struct command_options *options, struct err *err)
{
    static const struct answer answer = {
        .schema = "gpumemtrace.check/1", .device = add_device, .tail = add_tail};
    struct view view = answer_view(options, &check);
    struct doc *doc = NULL;
    int status;

    if (check->base.symbols && symbols_set_sources(check->base.symbols, &view.sources, err))
        return -1;
    if (docs_build(&doc, options->format->reads, &answer, &view, options->operands,
                   options->operand_count, err))
        return -1;
    if (!check->results.count && view.layer == LAYER_pool) {
        doc_free(doc);
        err_set(err, ERR_INPUT, "no device has a framework pool to check; try --layer=driver");
        return -1;
    }
    add_results(doc, &check->results, view.people);
    status = command_print(doc, options, err);
    doc_free(doc);
    return status ? status : !check_all_passed(&check->results);
}

static int prepare(struct check *check, struct err *err)
{
    const struct given *given = &check->given;

    if (!given->max_peak.count && given->max_leak_bytes == UINT64_MAX && !given->baseline) {
        err_set(err, ERR_USAGE,
                "nothing to check: give --max-peak=SIZE, --max-leak=SIZE or --baseline=TRACE");
        return -1;
    }
    for (int i = 0; i < given->max_peak.count; i++)
        if (check_limit_parse(&check->limits[i], given->max_peak.values[i], err))
            return -1;
    if (!given->baseline)
        return 0;
    if (study_open(&check->base, given->baseline, err))
        return -1;
    return given->allow_incomplete ? 0 : check_complete(&check->base.trace, err);
}

int command_check(int argc, char **argv, struct err *err)
{
    static const struct option_rule rules[] = {
        {"max-peak", 0, OPTION_TEXTS, "SIZE",
         "most live bytes at once, on each device; phase:NAME=SIZE while a phase is open; may be "
         "repeated",
         offsetof(struct given, max_peak)},
        {"max-leak", 0, OPTION_SIZE, "SIZE", "most live bytes at exit",
         offsetof(struct given, max_leak_bytes)},
        {"baseline", 0, OPTION_TEXT, "TRACE", "an earlier trace whose peak may not be exceeded",
         offsetof(struct given, baseline)},
        {"tolerance", 0, OPTION_RATIO, "SHARE", "how much above the baseline is fine (default 2%)",
         offsetof(struct given, tolerance_ratio)},
        {"allow-incomplete", 0, OPTION_FLAG, NULL,
         "check a trace that was cut off or lost events all the same",
         offsetof(struct given, allow_incomplete)},
        {0},
    };
    struct check check = {.given = {.max_leak_bytes = UINT64_MAX, .tolerance_ratio = 0.02}};
    struct command_options options;
    int status = -1;

    if (options_parse(&options, rules, &check.given, argc, argv, err))
        return -1;
    if (!prepare(&check, err))
        status = print(&check, &options, err);
    study_release(&check.base);
    check_results_release(&check.results);
    return status;
}
