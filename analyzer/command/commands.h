/* SPDX-License-Identifier: MIT */
/* The table of commands. Only commands.def tells what each command does. */
#pragma once

#include "analyzer/command/option/command.h"

/* All commands in the order of commands.def. The name of the last row is NULL. */
extern const struct command commands[];

/* Returns NULL if there is no such command. */
const struct command *command_find(const char *name);
/* Fills *err for an unknown command, with the nearest name as a hint. Returns -1. */
int command_unknown(const char *name, struct err *err);
