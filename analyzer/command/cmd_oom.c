/* SPDX-License-Identifier: MIT */
/* `gpumemtrace oom`: says why allocations failed. page/oom/ writes the answer. */
#include "answer.h"

int command_oom(const struct command *command, int argc, char **argv, struct err *err)
{
    return answer_command(&page_oom, command, argc, argv, err);
}
