/* SPDX-License-Identifier: MIT */
/* A command's help page, from its row and its tables of options. It must not hold a word that
 * stands in one of those. */
#ifndef GPUMEMTRACE_ANALYZER_COMMAND_HELP_PAGE_H
#define GPUMEMTRACE_ANALYZER_COMMAND_HELP_PAGE_H

#include "option.h"

/* Prints the page to stdout; own_rules as for options_parse. */
int help_page_print(const struct command *command, const struct option_rule *own_rules,
                    struct err *err);

/* Prints a text that was made for stdout; -1: it could not be made. */
#define HELP_BYTES_MAX 16384
struct text;
int help_text_print(struct text *text, struct err *err);

#endif
