/* SPDX-License-Identifier: MIT */
/* `gpumemtrace report`: everything on one page. What it says is page/report.c. */
#include "analyzer/command.h"
#include "answer.h"

int command_report(int argc, char **argv, struct err *err)
{
    return answer_command(&page_report, argc, argv, err);
}
