/* SPDX-License-Identifier: MIT */
/*
 * `gpumemtrace help`: the list of commands, and a command's page from its row in commands.def and
 * its tables of options. It must not hold a word that stands in one of those.
 */
#include <stdio.h>
#include <string.h>

#include "analyzer/command.h"
#include "analyzer/util/text.h"

#define PAGE_BYTES_MAX 16384

static int page_print(struct text *page, struct err *err)
{
    if (text_failed(page)) {
        err_set(err, ERR_SYSTEM, "no memory for the help page");
        return -1;
    }
    fputs(page->data, stdout); /* main checks stdout at the end */
    return 0;
}

int command_print_help(const struct command *command, const struct option_rule *own_rules,
                       struct err *err)
{
    struct text page;
    text_init(&page, PAGE_BYTES_MAX);
    text_addf(&page, "usage: gpumemtrace %s [OPTION]... %s%s\n\n", command->name,
              strcmp(command->name, "run") ? "" : "[--] ", command->operands);
    text_add_wrapped(&page, "", command->answer);
    text_add(&page, "\nOptions:\n");
    options_describe(&page, command->common, own_rules);
    text_add(&page, "\n");
    text_add_wrapped(&page, "Exit status: ", command->exits);
    text_addf(&page, "\nExample:\n  %s\n", command->example);
    int result = page_print(&page, err);
    text_release(&page);
    return result;
}

static int print_overview(struct err *err)
{
    struct text page;
    text_init(&page, PAGE_BYTES_MAX);
    text_add(&page, "usage: gpumemtrace COMMAND [OPTION]... [OPERAND]...\n\n");
    text_add_wrapped(&page, "",
                     "Records every GPU memory allocation of a CUDA program, and answers "
                     "questions from the recorded trace.");
    text_add(&page, "\nCommands:\n");
    for (const struct command *command = commands; command->name; command++)
        text_addf(&page, "  %-10s %-22s %s\n", command->name, command->operands, command->summary);
    text_add(&page, "\n'gpumemtrace help COMMAND' shows a command's options and an example.\n"
                    "'gpumemtrace --version' shows the version.\n");
    int result = page_print(&page, err);
    text_release(&page);
    return result;
}

int command_help(int argc, char **argv, struct err *err)
{
    struct command_options options;
    if (options_parse(&options, NULL, NULL, argc, argv, err))
        return -1;
    if (options.operand_count == 0)
        return print_overview(err);
    const struct command *command = command_find(options.operands[0]);
    if (!command)
        return command_unknown(options.operands[0], err);
    char name[32], help[] = "--help", *arguments[] = {name, help, NULL};
    snprintf(name, sizeof name, "%s", command->name);
    return command->function(2, arguments, err);
}
