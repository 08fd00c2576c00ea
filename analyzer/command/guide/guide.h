/* SPDX-License-Identifier: MIT */
/* A guide shows all commands in another form than `help` does: as sections of the manual page, or
 * as a shell's completion. It is one row of guides.def. It is written command by command, from
 * commands.def and the tables of options, and repeats no text of these tables. */
#pragma once

#include "analyzer/command/option/option.h"

struct text;

struct guide {
    const char *name, *head; /* head is written before the first command */
    /* Writes one command; own_rules may be NULL. */
    void (*command)(struct text *text, const struct command *command,
                    const struct option_rule *own_rules);
    void (*end)(struct text *text, const struct command *commands);
};

#define GUIDE(name) extern const struct guide guide_##name;
#include "guides.def"
