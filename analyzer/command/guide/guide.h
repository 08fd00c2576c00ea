/* SPDX-License-Identifier: MIT */
/*
 * What others than `help` show of the commands: a section of the manual page, completion of a shell. Each is
 * a row of guides.def, and is written from the rows of commands.def and the tables of options, command by
 * command. It must not hold a word that stands in one of those.
 */
#ifndef GPUMEMTRACE_ANALYZER_COMMAND_GUIDE_GUIDE_H
#define GPUMEMTRACE_ANALYZER_COMMAND_GUIDE_GUIDE_H

#include "analyzer/command/option/option.h"

struct text;

struct guide {
    const char *name, *head; /* head stands before all commands */
    /* One command; its own options may be NULL. */
    void (*command)(struct text *text, const struct command *command,
                    const struct option_rule *own_rules);
    void (*end)(struct text *text, const struct command *commands);
};

#define GUIDE(name) extern const struct guide guide_##name;
#include "guides.def"

#endif
