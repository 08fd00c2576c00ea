/* SPDX-License-Identifier: MIT */
/* `gpumemtrace steps`: what each step peaked at, and why one is higher. What it says is page/steps/steps.c. */
#include "answer.h"

int command_steps(const struct command *command, int argc, char **argv, struct err *err)
{
    return answer_command(&page_steps, command, argc, argv, err);
}
