/* SPDX-License-Identifier: MIT */
/*
 * Arguments of a command: the options that commands share (shared_options.c) and the command's own
 * (a table it passes). Which shared options a command has and how many operands it
 * takes stands in its row of commands.def. It must not know what a command does with them.
 *
 * A command with an option of its own:
 *
 *     struct check_options { uint64_t max_leak_bytes; struct option_texts max_peak; bool lax; };
 *
 *     static const struct option_rule rules[] = {
 *         {"max-leak", 0, OPTION_SIZE, "SIZE", "most live bytes at exit",
 *          offsetof(struct check_options, max_leak_bytes)},
 *         …
 *         {0},
 *     };
 *
 *     struct command_options options;
 *     struct check_options own = {.max_leak_bytes = UINT64_MAX};
 *     if (options_parse(&options, command, rules, &own, argc, argv, err))
 *         return -1;
 *
 * Values whose option is not given keep what the caller put there. Options may stand after
 * operands; "--" ends them. --help prints the command's page; then options_parse returns -1 with
 * ERR_DONE, which main takes for success: a command need not treat it.
 */
#ifndef GPUMEMTRACE_ANALYZER_COMMAND_OPTIONS_H
#define GPUMEMTRACE_ANALYZER_COMMAND_OPTIONS_H

#include <jansson.h>

#include "analyzer/command/option/option.h"

/* own_rules and own may be NULL. */
int options_parse(struct command_options *options, const struct command *command,
                  const struct option_rule *own_rules, void *own, int argc, char **argv,
                  struct err *err);

/* As options_parse, for `run`: the first operand ends the options, the rest is another program's.
 */
int options_parse_leading(struct command_options *options, const struct command *command,
                          const struct option_rule *own_rules, void *own, int argc, char **argv,
                          struct err *err);

/* The same from a file: an object whose keys are names of options, but for one. Texts point into it. ERR_INPUT names
 * the key. */
int options_of_json(const struct option_rule *rules, void *own, const json_t *object,
                    const char *skipped, struct err *err);

#endif
