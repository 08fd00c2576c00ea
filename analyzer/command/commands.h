/* SPDX-License-Identifier: MIT */
/* The table of commands. Only commands.def knows what a command does. */
#ifndef GPUMEMTRACE_ANALYZER_COMMAND_COMMANDS_H
#define GPUMEMTRACE_ANALYZER_COMMAND_COMMANDS_H

#include "analyzer/command/option/command.h"

/* All commands in the order of commands.def; the last has a NULL name. */
extern const struct command commands[];

/* Returns NULL if there is no such command. */
const struct command *command_find(const char *name);
/* Fills *err for an unknown command, with the nearest name; returns -1. */
int command_unknown(const char *name, struct err *err);

#endif
