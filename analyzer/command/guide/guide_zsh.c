/* SPDX-License-Identifier: MIT */
/* Zsh completion: one function per command, and one that picks it; see guide.h. */
#include "guide.h"

#include <string.h>

#include "guide_option.h"
#include "analyzer/util/text.h"

/* Adds an option: '--name=[what it does]:VALUE:(a b c)' */
static void add_option(struct text *text, const struct command *command,
                       const struct option_rule *rule)
{
    text_addf(text, " \\\n        '%s--%s", rule->kind == OPTION_TEXTS ? "*" : "", rule->name);
    text_add(text, !guide_takes_value(rule) ? "" : rule->kind == OPTION_MAYBE ? "=-" : "=");
    text_add(text, "[");
    guide_add_brief(text, rule);
    text_add(text, "]");
    if (guide_takes_value(rule)) {
        text_add(text, rule->kind == OPTION_MAYBE ? "::value:" : ":value:");
        struct text choices;
        text_init(&choices, 1024);
        guide_add_choices(&choices, command, rule);
        if (choices.length)
            text_addf(text, "(%s)", choices.data);
        else
            text_add(text, guide_takes_file(rule) ? "_files" : " ");
        text_release(&choices);
    }
    text_add(text, "'");
    if (rule->letter)
        text_addf(text, " \\\n        '-%c+:file:_files'", rule->letter);
}

static void add_command(struct text *text, const struct command *command,
                        const struct option_rule *own_rules)
{
    static const char *const operands[] = {
        [GUIDE_FILE] = "*:file:_files",
        [GUIDE_PROGRAM] = "*:::program: _normal",
        [GUIDE_COMMAND] = "*:command:_gpumemtrace_commands",
    };
    text_addf(text, "_gpumemtrace_%s() {\n    _arguments -s \\\n        '(- *)--help[this page]'",
              command->name);
    guide_each_option(text, command, own_rules, add_option);
    text_addf(text, " \\\n        '%s'\n}\n", operands[guide_operand(command)]);
}

static void add_end(struct text *text, const struct command *commands)
{
    text_add(text, "_gpumemtrace_commands() {\n    local -a commands=(\n");
    for (const struct command *command = commands; command->name; command++) {
        text_addf(text, "        '%s:", command->name);
        guide_add_quoted(text, command->summary, strlen(command->summary));
        text_add(text, "'\n");
    }
    text_add(text, "    )\n"
                   "    _describe command commands\n"
                   "}\n"
                   "_gpumemtrace() {\n"
                   "    if (( CURRENT == 2 )); then\n"
                   "        _gpumemtrace_commands\n"
                   "    elif (( $+functions[_gpumemtrace_$words[2]] )); then\n"
                   "        local name=$words[2]\n"
                   "        shift words\n"
                   "        (( CURRENT-- ))\n"
                   "        _gpumemtrace_$name\n"
                   "    fi\n"
                   "}\n"
                   "if [[ $funcstack[1] == _gpumemtrace ]]; then _gpumemtrace \"$@\"; else compdef "
                   "_gpumemtrace gpumemtrace; fi\n");
}

const struct guide guide_zsh = {
    "zsh",
    "#compdef gpumemtrace\n"
    "# 'gpumemtrace help --as=zsh' wrote it\n",
    add_command,
    add_end,
};
