/* SPDX-License-Identifier: MIT */
/*
 * `gpumemtrace help`: the list of commands, and the help page of one. It must not hold a word that
 * stands in commands.def.
 */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "help_page.h"
#include "options.h"
#include "analyzer/util/text.h"

static int print_overview(struct err *err)
{
    struct text text;
    text_init(&text, HELP_BYTES_MAX);
    text_add(&text, "usage: gpumemtrace COMMAND [OPTION]... [OPERAND]...\n\n");
    text_add_wrapped(&text, "",
                     "Records every GPU memory allocation of a CUDA program, and answers "
                     "questions from the recorded trace.");
    text_add(&text, "\nCommands:\n");
    for (const struct command *command = commands; command->name; command++)
        text_addf(&text, "  %-10s %-22s %s\n", command->name, command->operands, command->summary);
    text_add(&text, "\n'gpumemtrace help COMMAND' shows a command's options and an example.\n"
                    "'gpumemtrace --version' shows the version.\n");
    int result = help_text_print(&text, err);
    text_release(&text);
    return result;
}

int command_help(const struct command *command, int argc, char **argv, struct err *err)
{
    struct command_options options;
    if (options_parse(&options, command, NULL, NULL, argc, argv, err))
        return -1;
    if (options.operand_count == 0)
        return print_overview(err);
    const struct command *asked = command_find(options.operands[0]);
    if (!asked)
        return command_unknown(options.operands[0], err);
    char name[32], help[] = "--help", *arguments[] = {name, help, NULL};
    snprintf(name, sizeof name, "%s", asked->name);
    return asked->function(asked, 2, arguments, err);
}
