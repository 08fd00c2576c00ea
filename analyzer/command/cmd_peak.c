/* SPDX-License-Identifier: MIT */
/* `gpumemtrace peak`: who held the memory at the peak, or at another moment. page/peak.c
 * writes the answer. */
#include "answer.h"

int command_peak(const struct command *command, int argc, char **argv, struct err *err)
{
    static const struct option_rule rules[] = {
        {"by", 0, OPTION_CHOICE, "line|function|file|op|module|stack",
         "group by this instead: what each is to blame for, and what went through it",
         offsetof(struct page_peak_options, by)},
        {"tree", 0, OPTION_FLAG, NULL,
         "the program's calls from the outermost inwards, with the bytes below each",
         offsetof(struct page_peak_options, tree)},
        {"moments", 0, OPTION_FLAG, NULL,
         "the ten highest moments between which live memory fell by more than a quarter",
         offsetof(struct page_peak_options, moments)},
        {0},
    };
    struct page_peak_options own = {0};
    struct command_options options;

    if (options_parse(&options, command, rules, &own, argc, argv, err))
        return -1;
    return answer_print(&page_peak, &options, &own, err);
}
