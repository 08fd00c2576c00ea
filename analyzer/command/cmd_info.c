/* SPDX-License-Identifier: MIT */
/* `gpumemtrace info`: says what the file holds, what it covers and what was lost. page/info.c
 * writes the answer. */
#include "answer.h"

int command_info(const struct command *command, int argc, char **argv, struct err *err)
{
    return answer_command(&page_info, command, argc, argv, err);
}
