/* SPDX-License-Identifier: MIT */
/* The options that commands share. Also shows any table of options as help. */
#pragma once

#include "option.h"

struct shared_option {
    unsigned group; /* enum command_options_group; 0 ends the table */
    struct option_rule rule;
};

/* The values of these options are stored in struct command_options. */
extern const struct shared_option shared_options[];

/* Every command has --help. */
extern const struct option_rule help_option;

/* Adds the option list of the help page: the command's own options, the shared options of its
 * groups, and --help. */
struct text;
void options_describe(struct text *text, const struct command *command,
                      const struct option_rule *own_rules);
