/* SPDX-License-Identifier: MIT */
/* Bash completion: three arrays, filled command by command, and a function that reads
 * them; see guide.h. */
#include "guide.h"

#include "guide_option.h"
#include "analyzer/util/text.h"

static void add_name(struct text *text, const struct command *command,
                     const struct option_rule *rule)
{
    (void)command;
    text_addf(text, " --%s%s", rule->name,
              guide_takes_value(rule) && rule->kind != OPTION_MAYBE ? "=" : "");
    if (rule->kind == OPTION_MAYBE && guide_takes_value(rule))
        text_addf(text, " --%s=", rule->name);
}

static void add_value(struct text *text, const struct command *command,
                      const struct option_rule *rule)
{
    struct text choices;
    text_init(&choices, 1024);
    guide_add_choices(&choices, command, rule);
    if (choices.length || guide_takes_file(rule))
        text_addf(text, "_gpumemtrace_values[%s--%s]='%s'\n", command->name, rule->name,
                  choices.length ? choices.data : "/");
    if (rule->letter)
        text_addf(text, "_gpumemtrace_values[%s-%c]='/'\n", command->name, rule->letter);
    text_release(&choices);
}

static void add_command(struct text *text, const struct command *command,
                        const struct option_rule *own_rules)
{
    static const char *const operands[] = {
        [GUIDE_FILE] = "file", [GUIDE_PROGRAM] = "program", [GUIDE_COMMAND] = "command"};
    text_addf(text, "_gpumemtrace_options[%s]='--help", command->name);
    guide_each_option(text, command, own_rules, add_name);
    text_addf(text, "'\n_gpumemtrace_operands[%s]='%s'\n", command->name,
              operands[guide_operand(command)]);
    guide_each_option(text, command, own_rules, add_value);
}

/* Adds the end. Bash splits "--by=li" into three words, because = is one of COMP_WORDBREAKS. */
static void add_end(struct text *text, const struct command *commands)
{
    (void)commands;
    text_add(text,
             "_gpumemtrace() {\n"
             "    local word=${COMP_WORDS[COMP_CWORD]} name=${COMP_WORDS[1]} option= values i\n"
             "    COMPREPLY=()\n"
             "    if ((COMP_CWORD == 1)); then\n"
             "        mapfile -t COMPREPLY < <(compgen -W \"${!_gpumemtrace_options[*]}\" -- "
             "\"$word\")\n"
             "        return\n"
             "    fi\n"
             "    for ((i = 2; i < COMP_CWORD; i++)); do # what follows PROGRAM is another's\n"
             "        [[ ${_gpumemtrace_operands[$name]} != program ]] && break\n"
             "        [[ ${COMP_WORDS[i]} == -- || ${COMP_WORDS[i]} != [-=]* && "
             "${COMP_WORDS[i - 1]} != = && ${COMP_WORDS[i - 1]} != -o ]] || continue\n"
             "        [[ ${COMP_WORDS[i]} == -- ]] && ((i + 1 == COMP_CWORD)) && break\n"
             "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
             "        compopt -o filenames 2>/dev/null\n"
             "        return\n"
             "    done\n"
             "    if [[ $word == = ]]; then\n"
             "        option=${COMP_WORDS[COMP_CWORD - 1]} word=\n"
             "    elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then\n"
             "        option=${COMP_WORDS[COMP_CWORD - 2]}\n"
             "    elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == -[a-z] ]]; then\n"
             "        option=${COMP_WORDS[COMP_CWORD - 1]}\n"
             "    fi\n"
             "    values=${_gpumemtrace_values[$name$option]:-}\n"
             "    if [[ -n $option && -n $values && $values != / ]]; then\n"
             "        mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$word\")\n"
             "    elif [[ -n $option && -z $values ]]; then\n"
             "        return\n"
             "    elif [[ -z $option && $word == -* ]]; then\n"
             "        mapfile -t COMPREPLY < <(compgen -W \"${_gpumemtrace_options[$name]}\" -- "
             "\"$word\")\n"
             "        [[ ${COMPREPLY[0]:-} == *= ]] && compopt -o nospace 2>/dev/null\n"
             "    elif [[ -z $option && ${_gpumemtrace_operands[$name]} == command ]]; then\n"
             "        mapfile -t COMPREPLY < <(compgen -W \"${!_gpumemtrace_options[*]}\" -- "
             "\"$word\")\n"
             "    elif [[ -z $option && ${_gpumemtrace_operands[$name]} == program ]]; then\n"
             "        mapfile -t COMPREPLY < <(compgen -c -- \"$word\"; compgen -f -- \"$word\")\n"
             "    else\n"
             "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
             "        compopt -o filenames 2>/dev/null\n"
             "    fi\n"
             "}\n"
             "complete -F _gpumemtrace gpumemtrace\n");
}

const struct guide guide_bash = {
    "bash",
    "# bash completion of gpumemtrace; 'gpumemtrace help --as=bash' wrote it\n"
    "# shellcheck shell=bash\n"
    "unset _gpumemtrace_options _gpumemtrace_values _gpumemtrace_operands\n"
    "declare -gA _gpumemtrace_options _gpumemtrace_values _gpumemtrace_operands\n",
    add_command,
    add_end,
};
