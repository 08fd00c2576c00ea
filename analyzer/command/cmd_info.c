/* SPDX-License-Identifier: MIT */
/* `gpumemtrace info`: what the file holds, its coverage and its losses. page/info.c
 * writes the answer. */
#include "answer.h"

int command_info(const struct command *command, int argc, char **argv, struct err *err)
{
    return answer_command(&page_info, command, argc, argv, err);
}
