/* SPDX-License-Identifier: MIT */
/* A command's help page. It is made from the command's row of commands.def and the tables of
 * options, and repeats no text of these tables. */
#pragma once

#include "analyzer/command/option/option.h"

/* Prints the command's help page to stdout. If `guide` is not NULL, prints the command in the form
 * of that guide instead. own_rules has the same meaning as for options_parse. */
int help_page_print(const struct command *command, const struct option_rule *own_rules,
                    const char *guide, struct err *err);

struct text;
/* Begins a text for stdout that wraps at the window's width. */
void help_text_init(struct text *text);
/* Prints the text. Returns -1 if memory ran out while it was made. */
int help_text_print(struct text *text, struct err *err);
