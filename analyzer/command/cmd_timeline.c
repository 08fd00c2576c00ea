/* SPDX-License-Identifier: MIT */
/* `gpumemtrace timeline`: live bytes over time, per layer. What it says is page/timeline.c. */
#include "answer.h"

enum { SAMPLES_MOST = 1000000 };

int command_timeline(const struct command *command, int argc, char **argv, struct err *err)
{
    static const struct option_rule rules[] = {
        {"samples", 0, OPTION_COUNT, "N", "points in time (default 40 in text, else 500)",
         offsetof(struct page_timeline_options, samples)},
        {0},
    };
    struct page_timeline_options own = {0};
    struct command_options options;

    if (options_parse(&options, command, rules, &own, argc, argv, err) ||
        answer_check_samples(own.samples, SAMPLES_MOST, err))
        return -1;
    return answer_print(&page_timeline, &options, &own, err);
}
