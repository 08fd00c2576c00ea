/* SPDX-License-Identifier: MIT */
/*
 * The commands, as commands.def lists them. A command lives in command/cmd_<name>.c, gets argv
 * from its own name on, and must not print to stdout but through command_print.
 */
#ifndef GPUMEMTRACE_ANALYZER_COMMAND_H
#define GPUMEMTRACE_ANALYZER_COMMAND_H

#include <stddef.h>

#include "gpumemtrace/err.h"
#include "analyzer/render/doc.h"
#include "analyzer/util/options.h"

/* Groups of shared options; see commands.def. */
enum command_options_group {
    COMMON_NONE = 0,
    COMMON_PRINT = 1 << 0,  /* --format --json -o */
    COMMON_DEVICE = 1 << 1, /* --device */
    COMMON_LAYER = 1 << 2,  /* --layer */
    COMMON_AT = 1 << 3,     /* --at */
    COMMON_TOP = 1 << 4,    /* --top */
    COMMON_STACKS = 1 << 5, /* --native */
    COMMON_NAMES = 1 << 6,  /* --debug-dir --debuginfod */
};

#define OPERANDS_UNLIMITED (-1)

struct command {
    const char *name;
    /* Returns the exit status 0 or 1; or -1 with *err (ERR_FINDING: exit 1, else exit 2). */
    int (*function)(int argc, char **argv, struct err *err);
    const char *operands; /* as shown in the synopsis */
    int fewest_operands, most_operands;
    unsigned common; /* enum command_options_group */
    const char *summary;
    const char *answer; /* what the command answers, for its help page */
    const char *table;  /* key of the list that CSV shows, NULL: prints no document */
    const char *exits;  /* what its exit status means */
    const char *example;
};

#define COMMAND(name, operands, fewest, most, common, summary, answer, table, exits, example)      \
    int command_##name(int argc, char **argv, struct err *err);
#include "commands.def"

/* All commands in the order of commands.def; the last has a NULL name. */
extern const struct command commands[];

/* NULL: there is no such command. */
const struct command *command_find(const char *name);
/* The command whose name is nearest to a mistyped one; NULL: none is near. */
const char *command_nearest(const char *name);
/* Fills *err for a name that is no command, with the nearest one; returns -1. */
int command_unknown(const char *name, struct err *err);

/*
 * Writes "gpumemtrace: name: message" to stderr, as one line whatever file names and traces put
 * into the message. Only for words beside a result: an error goes through *err.
 */
void command_say(const char *name, const char *message);

/* Prints the command's help page to stdout; own_rules as for options_parse. */
int command_print_help(const struct command *command, const struct option_rule *own_rules,
                       struct err *err);

/*
 * Renders doc to options->output or stdout in options->format and checks that all of it was
 * written. An output that is one of the operands is refused. The document learns its table from the
 * command's row.
 */
int command_print(struct doc *doc, const struct command_options *options, struct err *err);

#endif
