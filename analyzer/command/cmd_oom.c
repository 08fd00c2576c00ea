/* SPDX-License-Identifier: MIT */
/* `gpumemtrace oom`: why allocations failed. What it says is page/oom.c. */
#include "analyzer/command.h"
#include "answer.h"

int command_oom(int argc, char **argv, struct err *err)
{
    return answer_command(&page_oom, argc, argv, err);
}
