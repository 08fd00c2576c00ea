/* SPDX-License-Identifier: MIT */
/* A command's help page, from its row and its tables of options. It must not hold a word that
 * stands in one of those. */
#ifndef GPUMEMTRACE_ANALYZER_COMMAND_GUIDE_HELP_PAGE_H
#define GPUMEMTRACE_ANALYZER_COMMAND_GUIDE_HELP_PAGE_H

#include "analyzer/command/option/option.h"

/*
 * Prints the page to stdout, or what the guide of that name says of the command; NULL: the page.
 * own_rules as for options_parse.
 */
int help_page_print(const struct command *command, const struct option_rule *own_rules,
                    const char *guide, struct err *err);

struct text;
/* Begins a text that is made for stdout: it wraps at the window. */
void help_text_init(struct text *text);
/* Prints it; -1: it could not be made. */
int help_text_print(struct text *text, struct err *err);

#endif
