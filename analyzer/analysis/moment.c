/* SPDX-License-Identifier: MIT */
/* Translates --at=… to an event; see moment.h. */
#include "moment.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/nearest.h"
#include "phases.h"

static const struct {
    const char *suffix;
    double ns;
} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}};

static int wrong(const char *option, const char *at, const char *why, struct err *err)
{
    return err_set(err, ERR_USAGE, "--%s=%.100s: %s; it takes " MOMENT_WORDS, option, at, why);
}

/* Sets an error with a suggestion. For "phse:forward", it suggests "phase:forward". */
static int not_understood(const char *option, const char *at, struct err *err)
{
    static const char *const words[] = {"peak", "end"}, *const heads[] = {"phase:", "oom:"};
    char head[NEAREST_NAME_MAX];
    const char *colon = strchr(at, ':');
    const char *nearest = nearest_name(at, words, sizeof words / sizeof *words);
    if (colon) {
        snprintf(head, sizeof head, "%.*s", (int)(colon + 1 - at), at);
        nearest = nearest_name(head, heads, sizeof heads / sizeof *heads);
    }
    if (!nearest)
        return wrong(option, at, "not understood", err);
    return err_set(err, ERR_USAGE, "--%s=%.100s: not understood; did you mean '%s%.40s'?", option,
                   at, nearest, colon ? colon + 1 : "");
}

static int parse_number(const char *text, uint64_t *number)
{
    char *end;
    if (*text < '0' || *text > '9')
        return -1;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return errno || *end ? -1 : 0;
}

/* Compares the sequence numbers of events, because times of different threads may differ by a
 * call's duration. */
static int parse_time(const char *option, const char *at, struct replay_plan *plan, struct err *err)
{
    char *end;
    double value = strtod(at, &end);
    for (size_t i = 0; end != at && i < sizeof units / sizeof *units; i++) {
        if (strcmp(end, units[i].suffix))
            continue;
        value *= units[i].ns;
        if (!isfinite(value) || value < 0 || value >= 0x1p63)
            return wrong(option, at, "no such time", err);
        plan->asked = ASKED_TIME;
        plan->number = (uint64_t)value;
        return 0;
    }
    return not_understood(option, at, err);
}

int moment_parse(const char *option, const char *at, struct replay_plan *plan, struct err *err)
{
    static const char phase[] = "phase:", oom[] = "oom:";
    plan->asked = ASKED_NONE;
    if (!at || !strcmp(at, "peak"))
        return 0;
    if (!strcmp(at, "end")) {
        plan->asked = ASKED_END;
        return 0;
    }
    if (!strncmp(at, phase, sizeof phase - 1)) {
        plan->asked = ASKED_PHASE;
        plan->name = at + sizeof phase - 1;
        return 0;
    }
    if (!strncmp(at, oom, sizeof oom - 1)) {
        plan->asked = ASKED_FAILURE;
        if (parse_number(at + sizeof oom - 1, &plan->number) || plan->number == 0)
            return wrong(option, at, "failures count from 1", err);
        return 0;
    }
    if (parse_number(at, &plan->number))
        return parse_time(option, at, plan, err);
    plan->asked = ASKED_SEQ;
    return 0;
}

static int check_phase(const char *option, const char *at, const struct history *history,
                       struct err *err)
{
    for (size_t i = 0; i < history->path_count; i++)
        if (history->paths[i].is_asked)
            return 0;
    char hint[PHASES_HINT_BYTES];
    return err_set(err, ERR_USAGE, "--%s=%.100s: the trace has no phase of that name; %s", option,
                   at, phases_hint(hint, history, strchr(at, ':') + 1));
}

static double in_unit(uint64_t ns, const char **unit)
{
    size_t i = 0;
    while (i + 2 < sizeof units / sizeof *units && (double)ns >= units[i + 1].ns)
        i++;
    *unit = units[i].suffix;
    return (double)ns / units[i].ns;
}

/* The time at which the program ended, which may be later than its last event. */
static uint64_t last_time_ns(const struct history *history)
{
    const struct trace_integer *end = &history->trace->meta.end_ns;
    const uint64_t last_ns = history->last_row_time_ns;
    return end->known && end->value > 0 && (uint64_t)end->value > last_ns ? (uint64_t)end->value
                                                                          : last_ns;
}

/* Rejects a moment before the first event, a number after the last event, and a time after the end
 * of the program. */
static int check_extent(const char *option, const char *at, const struct replay_plan *plan,
                        const struct history *history, const struct moment *found, struct err *err)
{
    const bool is_time = plan->asked == ASKED_TIME;
    const char *unit;
    const double end = in_unit(history->last_row_time_ns, &unit);
    if (!history->event_count ||
        (found->index != INDEX_NONE &&
         plan->number <= (is_time ? last_time_ns(history) : history->last_row_seq)))
        return 0;
    return err_set(
        err, ERR_USAGE,
        "--%s=%.100s: the trace has no such moment: its last event is number %llu, at %.4g%s; "
        "--%s=end is the end of the program",
        option, at, (unsigned long long)history->last_row_seq, end, unit, option);
}

int moment_find(const char *option, const char *at, const struct history *history, uint32_t account,
                struct moment *moment, struct err *err)
{
    struct replay_plan plan;
    if (moment_parse(option, at, &plan, err))
        return -1;
    *moment = plan.asked == ASKED_NONE ? history->accounts[account].peak
                                       : history->accounts[account].asked;
    if (plan.asked == ASKED_PHASE)
        return check_phase(option, at, history, err);
    if (plan.asked == ASKED_TIME || plan.asked == ASKED_SEQ)
        return check_extent(option, at, &plan, history, moment, err);
    if (plan.asked != ASKED_FAILURE || plan.number <= history->failures_in_all)
        return 0;
    return err_set(err, ERR_USAGE,
                   "--%s=%.100s: the trace has no such moment: %llu allocation%s failed", option,
                   at, (unsigned long long)history->failures_in_all,
                   history->failures_in_all == 1 ? "" : "s");
}
