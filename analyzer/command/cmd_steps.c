/* SPDX-License-Identifier: MIT */
/* `gpumemtrace steps`: shows each step's peak, and why one peak is higher than the others.
 * page/steps/ writes the answer. */
#include "answer.h"

int command_steps(const struct command *command, int argc, char **argv, struct err *err)
{
    return answer_command(&page_steps, command, argc, argv, err);
}
