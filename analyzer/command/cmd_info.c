/* SPDX-License-Identifier: MIT */
/* `gpumemtrace info`: what the file holds, its coverage and its losses. What it says is page/info.c. */
#include "analyzer/command.h"
#include "answer.h"

int command_info(int argc, char **argv, struct err *err)
{
    return answer_command(&page_info, argc, argv, err);
}
