/* SPDX-License-Identifier: MIT */
/* `gpumemtrace timeline`: shows live bytes over time, events or steps. page/timeline.c writes the
 * answer. */
#include "answer.h"

#include "analyzer/analysis/moment.h"

enum { SAMPLES_MOST = 1000000, BROKEN_DOWN_MOST = 10000 };

struct given {
    long samples;
    int axis, by; /* enum timeline_axis, enum breakdown_by */
    const char *from, *to;
};

/* Parses a bound. On the axis of steps, a number alone is the number of a step. All other texts
 * have the same meaning as in --at. */
static int parse_bound(struct timeline_bound *bound, const char *option, const char *text,
                       enum timeline_axis axis, struct err *err)
{
    struct replay_plan plan;
    if (!text)
        return 0;
    if (moment_parse(option, text, &plan, err))
        return -1;
    bound->number = plan.number;
    switch (plan.asked) {
    case ASKED_TIME:
        bound->unit = TIMELINE_TIME;
        break;
    case ASKED_SEQ:
        bound->unit = axis == TIMELINE_STEP ? TIMELINE_STEP : TIMELINE_EVENT;
        break;
    default:
        bound->unit = TIMELINE_EVENT;
        bound->at = text;
    }
    return 0;
}

/* Refuses --from after --to. Moments such as peak or oom:1 are not compared, because their place in
 * the trace is not known yet. */
static int check_order(const struct timeline_ask *ask, const struct given *given, struct err *err)
{
    const struct timeline_bound *from = &ask->from, *to = &ask->to;
    if (!given->from || !given->to || from->unit != to->unit || from->at || to->at ||
        from->number <= to->number)
        return 0;
    return err_set(err, ERR_USAGE, "--from=%s lies after --to=%s: give the earlier one as --from",
                   given->from, given->to);
}

static int read_given(struct page_timeline_options *own, const struct given *given, struct err *err)
{
    const enum timeline_axis axis = (enum timeline_axis)given->axis;
    own->by = given->by;
    own->ask = (struct timeline_ask){.cut_count = (size_t)given->samples, .axis = axis};
    if (parse_bound(&own->ask.from, "from", given->from, axis, err) ||
        parse_bound(&own->ask.to, "to", given->to, axis, err) || check_order(&own->ask, given, err))
        return -1;
    return answer_check_samples(
        given->samples, given->by > BREAKDOWN_BY_LAYER ? BROKEN_DOWN_MOST : SAMPLES_MOST, err);
}

int command_timeline(const struct command *command, int argc, char **argv, struct err *err)
{
    static const struct option_rule rules[] = {
        {"axis", 0, OPTION_CHOICE, "time|event|step",
         "unit of the equal intervals that the rows stand for (default time)",
         offsetof(struct given, axis)},
        {"from", 0, OPTION_TEXT, "WHEN",
         "begin at this moment and not at the first allocation: " MOMENT_WORDS
         "; with --axis=step a number is a step; phase:NAME is the occurrence with the most live "
         "bytes",
         offsetof(struct given, from)},
        {"to", 0, OPTION_TEXT, "WHEN",
         "end at this moment, given as for --from; phase:NAME is the end of the occurrence",
         offsetof(struct given, to)},
        {"by", 0, OPTION_CHOICE, "layer|phase|category",
         "also the live bytes by phase of birth or by category, at the highest moment of each row",
         offsetof(struct given, by)},
        {"samples", 0, OPTION_COUNT, "N", "most rows (default 40 in text, else 500)",
         offsetof(struct given, samples)},
        {0},
    };
    struct given given = {.axis = TIMELINE_TIME, .by = BREAKDOWN_BY_LAYER};
    struct page_timeline_options own = {0};
    struct command_options options;
    if (options_parse(&options, command, rules, &given, argc, argv, err) ||
        read_given(&own, &given, err))
        return -1;
    return answer_print(&page_timeline, &options, &own, err);
}
