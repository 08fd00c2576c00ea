/* SPDX-License-Identifier: MIT */
/* Facts of a command's operands and options that the guides print. */
#pragma once

#include "analyzer/command/option/option.h"

struct text;

/* Calls visit for each option of the command except --help: first for its own options, then for
 * the shared ones. */
void guide_each_option(struct text *text, const struct command *command,
                       const struct option_rule *own_rules,
                       void (*visit)(struct text *, const struct command *,
                                     const struct option_rule *));

enum guide_operand { GUIDE_FILE, GUIDE_PROGRAM, GUIDE_COMMAND };

/* Returns the kind of the command's operands. */
enum guide_operand guide_operand(const struct command *command);
/* Returns whether the option takes a value, required or optional. */
bool guide_takes_value(const struct option_rule *rule);
/* Returns whether the option's value is a file or a folder. */
bool guide_takes_file(const struct option_rule *rule);
/* Adds the possible values of the option, separated by spaces. Adds nothing if any value is
 * possible. */
void guide_add_choices(struct text *text, const struct command *command,
                       const struct option_rule *rule);
/* Adds words to go between single quotes, escaped for bash, fish and zsh. */
void guide_add_quoted(struct text *text, const char *words, size_t length);
/* Adds the option's description up to the end of its first clause, escaped like the words of
 * guide_add_quoted. */
void guide_add_brief(struct text *text, const struct option_rule *rule);
