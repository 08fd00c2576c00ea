/* SPDX-License-Identifier: MIT */
/* `gpumemtrace leaks`: finds memory that was never freed, and growth per step. page/leaks/leaks.c
 * writes the answer. */
#include "answer.h"

int command_leaks(const struct command *command, int argc, char **argv, struct err *err)
{
    static const struct option_rule rules[] = {
        {"by", 0, OPTION_CHOICE, "holder",
         "also list the variables that keep the memory, as a walk over Python's objects found them",
         offsetof(struct page_leaks_options, by)},
        {"churn", 0, OPTION_FLAG, NULL,
         "also list what each step allocates and frees again, by call stack",
         offsetof(struct page_leaks_options, churn)},
        {"fail", 0, OPTION_FLAG, NULL, "exit 1 when there is a leak",
         offsetof(struct page_leaks_options, fail)},
        {0},
    };
    bool found = false;
    struct page_leaks_options own = {.found = &found};
    struct command_options options;
    int status;
    if (options_parse(&options, command, rules, &own, argc, argv, err))
        return -1;
    status = answer_print(&page_leaks, &options, &own, err);
    return status ? status : own.fail && found;
}
