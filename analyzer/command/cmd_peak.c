/* SPDX-License-Identifier: MIT */
/* `gpumemtrace peak`: who held the memory at the peak, or another moment. What it says is page/peak.c. */
#include "answer.h"

int command_peak(const struct command *command, int argc, char **argv, struct err *err)
{
    return answer_command(&page_peak, command, argc, argv, err);
}
