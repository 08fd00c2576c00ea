/* SPDX-License-Identifier: MIT */
/* The table of commands; see commands.h. */
#include "commands.h"

#include <string.h>

#include "analyzer/util/nearest.h"

const struct command commands[] = {
#define COMMAND(name, operands, fewest, most, common, summary, answer, table, exits, example)      \
    {#name, command_##name, operands, fewest, most, common, summary, answer, table, exits, example},
#include "commands.def"
    {0},
};

static const char *const names[] = {
#define COMMAND(name, operands, fewest, most, common, summary, answer, table, exits, example) #name,
#include "commands.def"
};

const struct command *command_find(const char *name)
{
    for (const struct command *command = commands; command->name; command++)
        if (!strcmp(command->name, name))
            return command;
    return NULL;
}

int command_unknown(const char *name, struct err *err)
{
    char hint[NEAREST_HINT_BYTES];
    nearest_hint(hint, name, names, sizeof names / sizeof names[0]);
    if (name[0] == '-')
        err_set(err, ERR_USAGE,
                "unknown option '%.100s'; options of a command stand after it, see "
                "'gpumemtrace help'",
                name);
    else if (*hint)
        err_set(err, ERR_USAGE, "unknown command '%.100s'%s", name, hint);
    else
        err_set(err, ERR_USAGE, "unknown command '%.100s'; see 'gpumemtrace help'", name);
    return -1;
}
