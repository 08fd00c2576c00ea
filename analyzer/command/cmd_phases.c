/* SPDX-License-Identifier: MIT */
/* `gpumemtrace phases`: says what each phase cost. page/phases.c writes the answer. */
#include "answer.h"

int command_phases(const struct command *command, int argc, char **argv, struct err *err)
{
    return answer_command(&page_phases, command, argc, argv, err);
}
