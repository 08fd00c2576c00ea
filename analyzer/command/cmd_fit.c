/* SPDX-License-Identifier: MIT */
/* `gpumemtrace fit`: the smallest card that runs the recorded program. page/fit.c writes
 * the answer. */
#include "analyzer/whatif/fit.h"

#include "answer.h"

int command_fit(const struct command *command, int argc, char **argv, struct err *err)
{
    struct command_options options;
    struct fit fit = {0};
    const struct page_fit_options own = {.fit = &fit};

    if (options_parse(&options, command, NULL, NULL, argc, argv, err))
        return -1;
    const int status = answer_print(&page_fit, &options, &own, err);
    fit_release(&fit);
    return status;
}
