/* SPDX-License-Identifier: MIT */
/* A command's help page; see help_page.h. */
#include "help_page.h"

#include <stdio.h>
#include <string.h>

#include "shared_options.h"
#include "analyzer/util/text.h"

int help_text_print(struct text *text, struct err *err)
{
    if (text_failed(text)) {
        err_set(err, ERR_SYSTEM, "out of memory for the help page");
        return -1;
    }
    fputs(text->data, stdout); /* main checks stdout at the end */
    return 0;
}

int help_page_print(const struct command *command, const struct option_rule *own_rules,
                    struct err *err)
{
    struct text text;
    text_init(&text, HELP_BYTES_MAX);
    text_addf(&text, "usage: gpumemtrace %s [OPTION]... %s%s\n\n", command->name,
              strcmp(command->name, "run") ? "" : "[--] ", command->operands);
    text_add_wrapped(&text, "", command->answer);
    text_add(&text, "\nOptions:\n");
    options_describe(&text, command, own_rules);
    text_add(&text, "\n");
    text_add_wrapped(&text, "Exit status: ", command->exits);
    text_addf(&text, "\nExample:\n  %s\n", command->example);
    int result = help_text_print(&text, err);
    text_release(&text);
    return result;
}
