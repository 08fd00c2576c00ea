/* SPDX-License-Identifier: MIT */
/* `gpumemtrace oom`: why allocations failed. What it says is page/oom/oom.c. */
#include "answer.h"

int command_oom(const struct command *command, int argc, char **argv, struct err *err)
{
    return answer_command(&page_oom, command, argc, argv, err);
}
