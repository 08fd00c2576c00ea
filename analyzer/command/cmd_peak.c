/* SPDX-License-Identifier: MIT */
/* `gpumemtrace peak`: says who held the memory at the peak or at another moment. page/peak/peak.c
 * writes the answer. */
#include "answer.h"

int command_peak(const struct command *command, int argc, char **argv, struct err *err)
{
    static const struct option_rule rules[] = {
        {"by", 0, OPTION_CHOICE, "line|function|file|op|module|stack|category",
         "group by this; each row has the bytes that the group is to blame for, and the bytes "
         "that went through it",
         offsetof(struct page_peak_options, by)},
        {"tree", 0, OPTION_FLAG, NULL,
         "tree of the program's calls from the outermost inwards, with the bytes below each call",
         offsetof(struct page_peak_options, tree)},
        {"moments", 0, OPTION_FLAG, NULL,
         "the ten highest local peaks; between two of them live memory fell by more than a "
         "quarter",
         offsetof(struct page_peak_options, moments)},
        {0},
    };
    struct page_peak_options own = {0};
    struct command_options options;
    if (options_parse(&options, command, rules, &own, argc, argv, err))
        return -1;
    return answer_print(&page_peak, &options, &own, err);
}
