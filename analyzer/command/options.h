/* SPDX-License-Identifier: MIT */
/*
 * Parses the arguments of a command: the options that commands share (shared_options.c) and the
 * command's own options (a table that the command passes). The command's row of commands.def says
 * which shared options it has and how many operands it takes.
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
 * If an option is not given, its field keeps the caller's value. Options may follow operands, and
 * "--" ends the options. --help prints the command's page. In this case options_parse returns -1
 * with ERR_DONE, which main treats as success, so a command needs no code for --help.
 */
#pragma once

#include <jansson.h>

#include "analyzer/command/option/option.h"

/* Parses argv. own_rules and own may be NULL. */
int options_parse(struct command_options *options, const struct command *command,
                  const struct option_rule *own_rules, void *own, int argc, char **argv,
                  struct err *err);

/* Like options_parse, but for `run`: the first operand ends the options, and all words after it
 * belong to the program to run. */
int options_parse_leading(struct command_options *options, const struct command *command,
                          const struct option_rule *own_rules, void *own, int argc, char **argv,
                          struct err *err);

/* Takes the options from a JSON object. Its keys are names of options, except the key `skipped`.
 * Texts point into the object. ERR_INPUT names the wrong key. */
int options_of_json(const struct option_rule *rules, void *own, const json_t *object,
                    const char *skipped, struct err *err);
