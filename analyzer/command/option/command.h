/* SPDX-License-Identifier: MIT */
/*
 * A command is one row of commands.def and one file cmd_NAME.c. Its function gets argv from the
 * command's name on, and prints to stdout only through command_print.
 *
 *     main → commands (the table) → cmd_NAME → options → answer → page_build → command_print
 */
#pragma once

#include "gpumemtrace/err.h"

/* Groups of shared options; see commands.def. */
enum command_options_group {
    COMMON_NONE = 0,
    COMMON_PRINT = 1 << 0,   /* --format --json -o */
    COMMON_DEVICE = 1 << 1,  /* --device */
    COMMON_LAYER = 1 << 2,   /* --layer */
    COMMON_AT = 1 << 3,      /* --at */
    COMMON_TOP = 1 << 4,     /* --top */
    COMMON_STACKS = 1 << 5,  /* --native */
    COMMON_NAMES = 1 << 6,   /* --debug-dir --debuginfod */
    COMMON_READ = 1 << 7,    /* --memory-limit */
    COMMON_PHASES = 1 << 8,  /* --nvtx */
    COMMON_SERIES = 1 << 9,  /* --series */
    COMMON_FILE = 1 << 10,   /* -o --memory-limit: reads one trace, writes one file */
    COMMON_MEMORY = 1 << 11, /* --memory-limit */
};

#define OPERANDS_UNLIMITED (-1)

struct command {
    const char *name;
    /* `command` is the command's own row. Returns the exit status 0 or 1, or -1 with *err. On -1
     * the exit status is 1 for ERR_FINDING and 2 for any other error. */
    int (*function)(const struct command *command, int argc, char **argv, struct err *err);
    const char *operands; /* copied into the synopsis */
    int fewest_operands, most_operands;
    unsigned common; /* enum command_options_group */
    const char *summary;
    const char *answer; /* the help page's sentences on what the command shows or does */
    const char *table;  /* key of the list that CSV shows; NULL: the command prints no document */
    const char *exits;  /* the meaning of its exit status */
    const char *example;
};

#define COMMAND(name, operands, fewest, most, common, summary, answer, table, exits, example)      \
    int command_##name(const struct command *command, int argc, char **argv, struct err *err);
#include "analyzer/command/commands.def"
