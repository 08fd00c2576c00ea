/* SPDX-License-Identifier: MIT */
/* The table of commands. It must not know what any of them does. */
#ifndef GPUMEMTRACE_ANALYZER_COMMAND_COMMANDS_H
#define GPUMEMTRACE_ANALYZER_COMMAND_COMMANDS_H

#include "analyzer/command/option/command.h"

/* All commands in the order of commands.def; the last has a NULL name. */
extern const struct command commands[];

/* NULL: there is no such command. */
const struct command *command_find(const char *name);
/* Fills *err for a name that is no command, with the nearest one; returns -1. */
int command_unknown(const char *name, struct err *err);

#endif
