/* SPDX-License-Identifier: MIT */
/* `gpumemtrace report`: puts all findings on one page. page/report/ writes the answer. */
#include "answer.h"

int command_report(const struct command *command, int argc, char **argv, struct err *err)
{
    return answer_command(&page_report, command, argc, argv, err);
}
