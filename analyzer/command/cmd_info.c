/* SPDX-License-Identifier: MIT */
/* `gpumemtrace info`: what the file holds, its coverage and its losses. What it says is page/info.c. */
#include "answer.h"

int command_info(const struct command *command, int argc, char **argv, struct err *err)
{
    return answer_command(&page_info, command, argc, argv, err);
}
