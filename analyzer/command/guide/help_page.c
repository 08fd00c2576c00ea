/* SPDX-License-Identifier: MIT */
/* A command's help page; see help_page.h. */
#include "help_page.h"

#include <stdio.h>
#include <string.h>

#include "guides.h"
#include "analyzer/command/option/shared_options.h"
#include "analyzer/render/window.h"
#include "analyzer/util/text.h"

void help_text_init(struct text *text)
{
    enum { HELP_BYTES_MAX = 16384 };
    const size_t columns = window_of(stdout).columns;

    text_init(text, HELP_BYTES_MAX);
    if (columns < text->line_columns)
        text->line_columns = columns;
}

int help_text_print(struct text *text, struct err *err)
{
    if (text_failed(text))
        return err_set(err, ERR_SYSTEM, "out of memory for the help page");
    fputs(text->data, stdout); /* main checks stdout for write errors at the end */
    return 0;
}

static void add_page(struct text *text, const struct command *command,
                     const struct option_rule *own_rules)
{
    text_addf(text, "usage: gpumemtrace %s [OPTION]... %s%s\n\n", command->name,
              strncmp(command->operands, "PROGRAM", 7) ? "" : "[--] ", command->operands);
    text_add_wrapped(text, "", command->answer);
    text_add(text, "\nOptions:\n");
    options_describe(text, command, own_rules);
    text_add(text, "\n");
    text_add_wrapped(text, "Exit status: ", command->exits);
    text_addf(text, "\nExample:\n  %s\n", command->example);
}

int help_page_print(const struct command *command, const struct option_rule *own_rules,
                    const char *guide, struct err *err)
{
    const struct guide *asked = guide ? guide_find(guide) : NULL;
    struct text text;
    if (guide && !asked)
        return err_set(err, ERR_USAGE, "option '--help' takes no value");
    help_text_init(&text);
    if (asked)
        asked->command(&text, command, own_rules);
    else
        add_page(&text, command, own_rules);
    const int result = help_text_print(&text, err);
    text_release(&text);
    return result;
}
