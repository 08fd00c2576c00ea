/* SPDX-License-Identifier: MIT */
/* `gpumemtrace ledger`: splits the bytes of a device by owner. page/ledger/ledger.c writes the
 * answer. */
#include "answer.h"

int command_ledger(const struct command *command, int argc, char **argv, struct err *err)
{
    return answer_command(&page_ledger, command, argc, argv, err);
}
