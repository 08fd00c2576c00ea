/* SPDX-License-Identifier: MIT */
/* Fish completion: one line per command and per option; see guide.h. */
#include "guide.h"

#include <string.h>

#include "guide_option.h"
#include "analyzer/util/text.h"

static void add_option(struct text *text, const struct command *command,
                       const struct option_rule *rule)
{
    struct text choices;
    text_addf(text, "complete -c gpumemtrace -n '__fish_seen_subcommand_from %s' -l %s",
              command->name, rule->name);
    if (rule->letter)
        text_addf(text, " -s %c", rule->letter);
    text_init(&choices, 1024);
    guide_add_choices(&choices, command, rule);
    if (guide_takes_file(rule))
        text_add(text, " -r -F");
    else if (guide_takes_value(rule))
        text_add(text, rule->kind == OPTION_MAYBE ? " -f" : " -x");
    if (choices.length)
        text_addf(text, " -a '%s'", choices.data);
    text_add(text, " -d '");
    guide_add_brief(text, rule);
    text_add(text, "'\n");
    text_release(&choices);
}

static void add_command(struct text *text, const struct command *command,
                        const struct option_rule *own_rules)
{
    text_addf(text, "complete -c gpumemtrace -n __fish_use_subcommand -a %s -d '", command->name);
    guide_add_quoted(text, command->summary, strlen(command->summary));
    text_add(text, "'\n");
    guide_each_option(text, command, own_rules, add_option);
    if (guide_operand(command) == GUIDE_PROGRAM)
        text_addf(text,
                  "complete -c gpumemtrace -n '__fish_seen_subcommand_from %s' -x -a "
                  "'(__fish_complete_subcommand --fcs-skip=2)'\n",
                  command->name);
}

static void add_end(struct text *text, const struct command *commands)
{
    for (const struct command *command = commands; command->name; command++) {
        if (guide_operand(command) != GUIDE_COMMAND)
            continue;
        for (const struct command *other = commands; other->name; other++) {
            text_addf(text,
                      "complete -c gpumemtrace -n '__fish_seen_subcommand_from %s' -f -a %s -d '",
                      command->name, other->name);
            guide_add_quoted(text, other->summary, strlen(other->summary));
            text_add(text, "'\n");
        }
    }
}

const struct guide guide_fish = {
    "fish",
    "# fish completion of gpumemtrace; 'gpumemtrace help --as=fish' wrote it\n"
    "complete -c gpumemtrace -e\n"
    "complete -c gpumemtrace -n __fish_use_subcommand -f\n",
    add_command,
    add_end,
};
