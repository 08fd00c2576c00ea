/* SPDX-License-Identifier: MIT */
/* Limits checked against a trace; see check.h. */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/fragmentation/frag.h"
#include "leaks.h"
#include "phases.h"
#include "analyzer/util/nearest.h"
#include "analyzer/util/array.h"
#include "common/numbers.h"

int check_limit_parse(struct check_limit *limit, const char *text, struct err *err)
{
    static const char phase[] = "phase:";
    const char *size = text;
    *limit = (struct check_limit){0};
    if (!strncmp(text, phase, sizeof phase - 1)) {
        size = strrchr(text, '=');
        if (!size || size == text + sizeof phase - 1)
            return err_set(err, ERR_USAGE, "--max-peak=%.100s: it takes SIZE or phase:NAME=SIZE",
                           text);
        limit->phase = text + sizeof phase - 1;
        limit->phase_length = (size_t)(size - limit->phase);
        size++;
    }
    return size_parse(size, &limit->bytes, err);
}

/* --- results --- */

static int results_add(struct check_results *results, const struct study *study, uint32_t account,
                       struct check_result result, struct err *err)
{
    const bool is_full = ARRAY_GROW(results->items, results->capacity, results->count, err);
    result.trace = strdup(study->trace.path);
    if (is_full || !result.trace || !result.subject) {
        free(result.trace);
        free(result.subject);
        return err_set(err, ERR_SYSTEM, "out of memory for the results of the checks");
    }
    result.device = study->history.accounts[account].device;
    result.account = account;
    result.passed = result.unit == CHECK_RATIO ? result.measured_ratio <= result.limit_ratio
                                               : result.measured_bytes <= result.limit_bytes;
    results->items[results->count++] = result;
    return 0;
}

static char *check_subject(const struct study *study, uint32_t number, const char *what,
                           const struct check_limit *limit)
{
    const struct account *account = &study->history.accounts[number];
    const char *pool = study_pool(study, account);
    char device[STUDY_DEVICE_BYTES], *subject;
    int length = asprintf(&subject, "%s %s%s %s%s%.*s", study_device_name(account->device, device),
                          pool ? pool : "driver", pool ? " pool" : "", what,
                          limit && limit->phase ? " in " : "",
                          limit && limit->phase ? (int)limit->phase_length : 0,
                          limit && limit->phase ? limit->phase : "");
    return length < 0 ? NULL : subject;
}

static bool limit_names(const char *text, const struct check_limit *limit)
{
    return strlen(text) == limit->phase_length && !memcmp(text, limit->phase, limit->phase_length);
}

static void say_no_phase(const struct study *study, const struct check_limit *limit,
                         struct err *err)
{
    char name[NEAREST_NAME_MAX + 2], hint[PHASES_HINT_BYTES];
    snprintf(name, sizeof name, "%.*s", (int)limit->phase_length, limit->phase);
    err_set(err, ERR_INPUT, "%.200s: no phase is named '%.*s'; %s", study->trace.path,
            (int)limit->phase_length, limit->phase, phases_hint(hint, &study->history, name));
}

/* The highest peak of the phases with that name or path. */
static int phase_peak(const struct study *study, uint32_t account, const struct check_limit *limit,
                      uint64_t *bytes, struct err *err)
{
    const struct history *history = &study->history;
    const struct phase_rows phases = phases_of(&study->phases, account);
    bool found = false;
    *bytes = 0;
    for (size_t i = 0; i < phases.count; i++) {
        uint32_t path = phases.items[i].path;

        if (path == HISTORY_NONE || (!limit_names(history->paths[path].text, limit) &&
                                     !limit_names(history->paths[path].name, limit)))
            continue;
        found = true;
        if (phases.items[i].peak_bytes > *bytes)
            *bytes = phases.items[i].peak_bytes;
    }
    if (!found)
        say_no_phase(study, limit, err);
    return found ? 0 : -1;
}

int check_peak(struct check_results *results, const struct study *study, uint32_t account,
               const struct check_limit *limit, struct err *err)
{
    uint64_t bytes = study->history.accounts[account].peak_bytes;
    if (limit->phase && phase_peak(study, account, limit, &bytes, err))
        return -1;
    return results_add(
        results, study, account,
        (struct check_result){.kind = "peak",
                              .subject = check_subject(study, account, "peak", limit),
                              .measured_bytes = bytes,
                              .limit_bytes = limit->bytes,
                              .limit = limit,
                              .is_of_phase = limit->phase},
        err);
}

int check_leak(struct check_results *results, const struct study *study, uint32_t account,
               uint64_t limit_bytes, struct err *err)
{
    return results_add(
        results, study, account,
        (struct check_result){.kind = "leak",
                              .subject = check_subject(study, account, "live at exit", NULL),
                              .measured_bytes = study->history.accounts[account].live_bytes,
                              .limit_bytes = limit_bytes},
        err);
}

static const char *growth_unknown_text(const struct growth *growth, const struct leak *leak)
{
    if (leak->waits)
        return "most kept memory waits for a backward that never came, as after a single forward; "
               "mark steps with gpumemtrace_step() or an NVTX range \"step\"";
    if (growth->ends == STEP_ENDS)
        return "the program marks no steps, and no phase or allocation that repeats shows where "
               "one begins; mark steps with gpumemtrace_step() or an NVTX range \"step\"";
    return growth->total.has_slope ? "live bytes vary more from step to step than they grow"
                                   : "it has too few steps";
}

int check_growth(struct check_results *results, const struct study *study, uint32_t account,
                 uint64_t limit_bytes, struct err *err)
{
    struct account_leak found;
    int status = -1;
    if (account_leak_find(&found, study, account, err))
        return -1;
    const struct leak *leak = &found.leak;
    if (leak->verdict == LEAK_UNKNOWN &&
        (!found.growth.total.has_slope || found.growth.total.high > (double)limit_bytes))
        err_set(err, ERR_INPUT, "%s: cannot tell how much memory grows per step: %s",
                study->trace.path, growth_unknown_text(&found.growth, leak));
    else
        status = results_add(
            results, study, account,
            (struct check_result){.kind = "growth",
                                  .subject = check_subject(study, account, "growth per step", NULL),
                                  .measured_bytes = (uint64_t)(leak->check_slope + 0.5),
                                  .limit_bytes = limit_bytes},
            err);
    account_leak_release(&found);
    return status;
}

static uint64_t with_tolerance(uint64_t bytes, double tolerance_ratio)
{
    double limit = (double)bytes * (1 + tolerance_ratio);
    return limit >= 0x1p63 ? UINT64_MAX : (uint64_t)limit;
}

/* Checks the peak against the result's base, plus the tolerance. */
static int check_against(struct check_results *results, const struct study *study, uint32_t account,
                         struct check_result result, uint64_t base_bytes, double tolerance_ratio,
                         struct err *err)
{
    const uint64_t limit_bytes = with_tolerance(base_bytes, tolerance_ratio);
    char what[64];
    snprintf(what, sizeof what, "peak" CHECK_AGAINST "%s", result.base);
    result.subject = check_subject(study, account, what, NULL);
    result.measured_bytes = study->history.accounts[account].peak_bytes;
    result.limit_bytes = limit_bytes < base_bytes ? base_bytes : limit_bytes;
    return results_add(results, study, account, result, err);
}

int check_baseline(struct check_results *results, const struct study *study, uint32_t account,
                   uint64_t base_bytes, double tolerance_ratio, struct err *err)
{
    return check_against(results, study, account,
                         (struct check_result){.kind = "baseline", .base = "the baseline"},
                         base_bytes, tolerance_ratio, err);
}

int check_estimate(struct check_results *results, const struct study *study, uint32_t account,
                   uint64_t estimated_bytes, double tolerance_ratio, struct err *err)
{
    return check_against(results, study, account,
                         (struct check_result){.kind = "estimate", .base = "the estimate"},
                         estimated_bytes, tolerance_ratio, err);
}

/* --- limits on other figures --- */

int check_fragmentation(struct check_results *results, const struct study *study, uint32_t account,
                        double limit_ratio, struct err *err)
{
    const uint64_t index = study->history.accounts[account].peak.index;
    struct frag frag = {.reserved_known = !history_is_imported(&study->history)};
    if (index != INDEX_NONE && frag_at(&frag, &study->history, account, index, err))
        return -1;
    if (!frag.reserved_known)
        return err_set(
            err, ERR_INPUT,
            "%.300s: cannot tell how fragmented the memory is: its segments were not recorded",
            study->trace.path);
    return results_add(results, study, account,
                       (struct check_result){.kind = "fragmentation",
                                             .subject = check_subject(
                                                 study, account, "fragmentation at the peak", NULL),
                                             .unit = CHECK_RATIO,
                                             .measured_ratio = frag.external_ratio,
                                             .limit_ratio = limit_ratio},
                       err);
}

int check_retries(struct check_results *results, const struct study *study, uint32_t account,
                  uint64_t limit, struct err *err)
{
    const struct history *history = &study->history;
    uint64_t count = 0;
    if (history_is_imported(&study->history))
        return err_set(
            err, ERR_INPUT,
            "%.300s: cannot tell how often allocations were retried: the imported file (%s) "
            "only says which of them failed in the end",
            study->trace.path, study->trace.meta.imported_format.value);
    for (size_t i = 0; i < history->retry_count; i++)
        if (history->retries[i].device == history->accounts[account].device)
            count += history->retries[i].retries_count;
    return results_add(
        results, study, account,
        (struct check_result){.kind = "retries",
                              .subject = check_subject(study, account, "count of retries", NULL),
                              .unit = CHECK_COUNT,
                              .measured_bytes = count,
                              .limit_bytes = limit},
        err);
}

int check_failures(struct check_results *results, const struct study *study, uint32_t account,
                   struct err *err)
{
    const struct history *history = &study->history;
    const uint64_t count =
        history->failures_of_device[DEVICE_SLOT(history->accounts[account].device)];
    if (!count)
        return 0;
    return results_add(
        results, study, account,
        (struct check_result){
            .kind = "failures",
            .subject = check_subject(study, account, "count of failed allocations", NULL),
            .unit = CHECK_COUNT,
            .measured_bytes = count},
        err);
}

static void result_release(struct check_result *result)
{
    free(result->subject);
    free(result->trace);
    free(result->label);
    free(result->file);
}

static int repeat(struct check_results *results, size_t number, const char *path, struct err *err)
{
    if (ARRAY_GROW(results->items, results->capacity, results->count, err))
        return -1;
    const struct check_result *from = &results->items[number];
    struct check_result result = *from;
    result.subject = strdup(from->subject);
    result.trace = strdup(path);
    result.label = from->label ? strdup(from->label) : NULL;
    result.file = from->file ? strdup(from->file) : NULL;
    if (result.subject && result.trace && !result.label == !from->label &&
        !result.file == !from->file) {
        results->items[results->count++] = result;
        return 0;
    }
    result_release(&result);
    return err_set(err, ERR_SYSTEM, "out of memory for the results of the checks");
}

int check_results_repeat(struct check_results *results, const char *from, const char *path,
                         struct err *err)
{
    const size_t count = results->count;
    for (size_t i = 0; i < count; i++)
        if (!strcmp(results->items[i].trace, from) && repeat(results, i, path, err))
            return -1;
    return 0;
}

bool check_all_passed(const struct check_results *results)
{
    bool passed = true;
    for (size_t i = 0; i < results->count; i++)
        passed &= results->items[i].passed;
    return passed;
}

void check_results_release(struct check_results *results)
{
    for (size_t i = 0; i < results->count; i++)
        result_release(&results->items[i]);
    free(results->items);
    *results = (struct check_results){0};
}

int check_complete(const struct trace *trace, struct err *err)
{
    const struct trace_meta *meta = &trace->meta;
    if (meta->lost_events.value > 0)
        return err_set(err, ERR_INPUT,
                       "%s: %" PRId64 " events were lost, so the figures may be too low; "
                       "--allow-incomplete checks it all the same",
                       trace->path, meta->lost_events.value);
    if (meta->complete.known && meta->complete.value)
        return 0;
    return err_set(
        err, ERR_INPUT,
        "%s: the recording is not complete (%s); --allow-incomplete checks it all the same",
        trace->path,
        trace->recording ? "the program still runs"
        : meta->imported_format.value
            ? "the imported file does not say everything: see 'gpumemtrace info'"
            : "it ended without exit: killed, or by a raw exit_group");
}
