/* SPDX-License-Identifier: MIT */
/* `gpumemtrace frag`: describes fragmentation at a moment, at each failure, and over time.
 * page/frag.c writes the answer. */
#include "answer.h"

enum { SAMPLES_MOST = 20000 };

int command_frag(const struct command *command, int argc, char **argv, struct err *err)
{
    static const struct option_rule rules[] = {
        {"samples", 0, OPTION_COUNT, "N", "moments in the list over time (default 10)",
         offsetof(struct page_frag_options, samples)},
        {"segments", 0, OPTION_FLAG, NULL, "each segment of a framework pool; in JSON, its blocks",
         offsetof(struct page_frag_options, segments)},
        {"what-if", 0, OPTION_TEXT, "SETTING",
         "simulate the run with another setting of PyTorch's allocator: expandable_segments, "
         "max_split_size=SIZE, no-cache, garbage_collection=SHARE, memory_fraction=SHARE",
         offsetof(struct page_frag_options, what_if)},
        {0},
    };
    struct page_frag_options own = {.samples = 10};
    struct command_options options;
    if (options_parse(&options, command, rules, &own, argc, argv, err) ||
        answer_check_samples(own.samples, SAMPLES_MOST, err))
        return -1;
    if (own.what_if) {
        struct whatif_settings checked = {0};

        if (settings_change(&checked, own.what_if, err))
            return -1;
        own.ask.change = own.what_if;
    }
    return answer_print(&page_frag, &options, &own, err);
}
