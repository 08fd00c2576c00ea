/* SPDX-License-Identifier: MIT */
/* What guides ask about a command's operands and an option. It must not know any guide. */
#ifndef GPUMEMTRACE_ANALYZER_COMMAND_GUIDE_GUIDE_OPTION_H
#define GPUMEMTRACE_ANALYZER_COMMAND_GUIDE_GUIDE_OPTION_H

#include "analyzer/command/option/option.h"

struct text;

/* Calls visit for each option of the command but --help: its own, then the shared ones. */
void guide_each_option(struct text *text, const struct command *command,
                       const struct option_rule *own_rules,
                       void (*visit)(struct text *, const struct command *,
                                     const struct option_rule *));

enum guide_operand { GUIDE_FILE, GUIDE_PROGRAM, GUIDE_COMMAND };

/* What the operands of a command are. */
enum guide_operand guide_operand(const struct command *command);
/* Whether a value has to, or may, stand behind the option. */
bool guide_takes_value(const struct option_rule *rule);
/* Whether that value is a file or a folder. */
bool guide_takes_file(const struct option_rule *rule);
/* Adds the words that the value may be, with blanks between; nothing: any value. */
void guide_add_choices(struct text *text, const struct command *command,
                       const struct option_rule *rule);
/* Adds words to what stands between single quotes, for any of these shells. */
void guide_add_quoted(struct text *text, const char *words, size_t length);
/* So the text of an option up to the end of its first thought. */
void guide_add_brief(struct text *text, const struct option_rule *rule);

#endif
