/* SPDX-License-Identifier: MIT */
/* `gpumemtrace peak`: who held the memory at the peak, or another moment. What it says is page/peak.c. */
#include "analyzer/command.h"
#include "answer.h"

int command_peak(int argc, char **argv, struct err *err)
{
    return answer_command(&page_peak, argc, argv, err);
}
