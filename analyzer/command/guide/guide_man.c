/* SPDX-License-Identifier: MIT */
/* The manual page's sections on commands and on shared options; see guide.h. */
#include "guide.h"

#include <string.h>

#include "guide_option.h"
#include "analyzer/command/option/shared_options.h"
#include "analyzer/util/text.h"

/* Adds text as roff source: no line begins with a control character, and \- prints the
 * hyphen that users type. */
static void add_roff(struct text *text, const char *words)
{
    if (*words == '.' || *words == '\'')
        text_add(text, "\\&");
    for (; *words; words++)
        if (*words == '-')
            text_add(text, "\\-");
        else if (*words == '\\')
            text_add(text, "\\e");
        else
            text_add_bytes(text, words, 1);
}

/* Adds a paragraph as one long line. Manual pages usually have one clause per line; one long line
 * renders the same. */
static void add_paragraph(struct text *text, const char *words)
{
    add_roff(text, words);
    text_add(text, "\n");
}

static void add_option(struct text *text, const struct option_rule *rule, const char *says)
{
    text_add(text, ".TP\n\\fB");
    if (rule->letter)
        text_addf(text, "\\-%c\\fR, \\fB", rule->letter);
    text_add(text, "\\-\\-");
    add_roff(text, rule->name);
    if (rule->argument) {
        text_add(text, rule->kind == OPTION_MAYBE ? "\\fR[=\\fI" : "\\fR=\\fI");
        add_roff(text, rule->argument);
        text_add(text, rule->kind == OPTION_MAYBE ? "\\fR]" : "\\fR");
    } else {
        text_add(text, "\\fR");
    }
    text_add(text, "\n");
    add_paragraph(text, says);
}

static void add_command(struct text *text, const struct command *command,
                        const struct option_rule *own_rules)
{
    text_addf(text, ".SS %s [OPTION]... %s", command->name,
              guide_operand(command) == GUIDE_PROGRAM ? "[\\-\\-] " : "");
    add_paragraph(text, command->operands);
    add_paragraph(text, command->answer);
    for (; own_rules && own_rules->name; own_rules++)
        add_option(text, own_rules, own_rules->text);
    text_add(text, ".PP\n");
    const char *before = "Common options: ";
    for (const struct shared_option *shared = shared_options; shared->group; shared++)
        if (command->common & shared->group) {
            text_addf(text, "%s\\fB\\-\\-", before);
            add_roff(text, shared->rule.name);
            text_add(text, "\\fR");
            before = ", ";
        }
    text_add(text, *before == ',' ? ".\n.br\n" : "");
    text_add(text, "Exit status: ");
    add_paragraph(text, command->exits);
    text_add(text, ".PP\n.EX\n");
    add_paragraph(text, command->example);
    text_add(text, ".EE\n");
}

static void add_end(struct text *text, const struct command *commands)
{
    (void)commands;
    text_add(text, ".SH COMMON OPTIONS\n");
    for (const struct shared_option *shared = shared_options; shared->group; shared++)
        add_option(text, &shared->rule,
                   shared->rule.text ? shared->rule.text
                                     : "how to print the result: text (default), json, html or "
                                       "csv, and what the page of a command names");
    add_option(text, &help_option, help_option.text);
}

const struct guide guide_man = {
    "man",
    ".SH COMMANDS\n",
    add_command,
    add_end,
};
