/* SPDX-License-Identifier: MIT */
/* Answers the questions of guides about an option; see guide_option.h. */
#include "guide_option.h"

#include <ctype.h>
#include <string.h>

#include "analyzer/command/option/shared_options.h"
#include "analyzer/render/formats.h"
#include "analyzer/util/text.h"
#include "common/sim_spec.h"

void guide_each_option(struct text *text, const struct command *command,
                       const struct option_rule *own_rules,
                       void (*visit)(struct text *, const struct command *,
                                     const struct option_rule *))
{
    for (; own_rules && own_rules->name; own_rules++)
        visit(text, command, own_rules);
    for (const struct shared_option *shared = shared_options; shared->group; shared++)
        if (command->common & shared->group)
            visit(text, command, &shared->rule);
}

enum guide_operand guide_operand(const struct command *command)
{
    if (strstr(command->operands, "PROGRAM"))
        return GUIDE_PROGRAM;
    return strstr(command->operands, "COMMAND") ? GUIDE_COMMAND : GUIDE_FILE;
}

bool guide_takes_value(const struct option_rule *rule)
{
    return rule->kind != OPTION_FLAG && rule->kind != OPTION_JSON && rule->argument;
}

bool guide_takes_file(const struct option_rule *rule)
{
    static const char *const words[] = {"FILE", "DIR", "FOLDER"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (guide_takes_value(rule) && !strcmp(rule->argument, words[i]))
            return true;
    return false;
}

/* Writes "a|b|c" and "a, b or c" as "a b c". */
static void add_words(struct text *text, const char *listed)
{
    const char *blank = "";
    while (*listed) {
        const size_t length = strcspn(listed, "|, ");
        if (length && !(length == 2 && !strncmp(listed, "or", 2))) {
            text_add(text, blank);
            text_add_bytes(text, listed, length);
            blank = " ";
        }
        listed += length + (listed[length] != '\0');
    }
}

/* The words that a SPEC of simulated cards may be. A SPEC may also be a size. */
static const char cards[] = SIM_SPEC_ANY
#define PRESET(name, ...) " " name
#include "common/sim_presets.def"
    ;

void guide_add_choices(struct text *text, const struct command *command,
                       const struct option_rule *rule)
{
    struct text formats;
    if (rule->kind == OPTION_FORMAT) {
        text_init(&formats, 256);
        formats_list(&formats, command->table);
        add_words(text, formats.data);
        text_release(&formats);
    } else if (guide_takes_value(rule) && !strcmp(rule->argument, "SPEC")) {
        add_words(text, cards);
    } else if (guide_takes_value(rule) && !strcmp(rule->argument, "CARD")) {
        add_words(text, cards + sizeof SIM_SPEC_ANY); /* skips SIM_SPEC_ANY, because a
                                                       * CARD has a size */
    } else if (guide_takes_value(rule) && strchr(rule->argument, '|') &&
               !isupper((unsigned char)rule->argument[0])) {
        add_words(text, rule->argument);
    }
}

void guide_add_quoted(struct text *text, const char *words, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (words[i] == '\'')
            text_add(text, "'\\''");
        /* leaves out brackets, because zsh ends a description at a bracket */
        else if (!strchr("\\[]", words[i]))
            text_add_bytes(text, &words[i], 1);
}

void guide_add_brief(struct text *text, const struct option_rule *rule)
{
    /* a shorter beginning, such as "in a dry run:", is no full clause */
    enum { THOUGHT_BYTES = 16 };
    const char *said = rule->text ? rule->text : "how to print the result";
    size_t length = strcspn(said, ";:([");
    while (length < THOUGHT_BYTES && said[length])
        length += 1 + strcspn(said + length + 1, ";:([");
    while (length && said[length - 1] == ' ')
        length--;
    guide_add_quoted(text, said, length);
}
