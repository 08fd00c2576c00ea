/* SPDX-License-Identifier: MIT */
/* `gpumemtrace fit`: finds the smallest card that runs the recorded program. page/fit.c writes the
 * answer. */
#include "answer.h"

int command_fit(const struct command *command, int argc, char **argv, struct err *err)
{
    struct command_options options;
    if (options_parse(&options, command, NULL, NULL, argc, argv, err))
        return -1;
    return answer_print(&page_fit, &options, NULL, err);
}
