/* SPDX-License-Identifier: MIT */
/* `gpumemtrace phases`: what each phase cost. What it says is page/phases.c. */
#include "analyzer/command.h"
#include "answer.h"

int command_phases(int argc, char **argv, struct err *err)
{
    return answer_command(&page_phases, argc, argv, err);
}
