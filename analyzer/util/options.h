/* SPDX-License-Identifier: MIT */
/*
 * Arguments of a command: the options all commands share (one table in options.c) and the
 * command's own (a table it passes). Which shared options a command has and how many operands it
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
 *     if (options_parse(&options, rules, &own, argc, argv, err))
 *         return -1;
 *
 * Values whose option is not given keep what the caller put there. Options may stand after
 * operands; "--" ends them. --help prints the command's page; then options_parse returns -1 with
 * ERR_DONE, which main takes for success: a command need not treat it.
 */
#ifndef GPUMEMTRACE_ANALYZER_UTIL_OPTIONS_H
#define GPUMEMTRACE_ANALYZER_UTIL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/render/format.h"
#include "gpumemtrace/err.h"

/* What an option takes, and the type of the field its value goes to. */
enum option_kind {
    OPTION_FLAG,   /* nothing; bool becomes true */
    OPTION_TEXT,   /* const char *, pointing into argv */
    OPTION_TEXTS,  /* may be given several times; struct option_texts */
    OPTION_MAYBE,  /* --name or --name=TEXT; const char *, "" without text */
    OPTION_COUNT,  /* an integer from 1; long */
    OPTION_INDEX,  /* an integer from 0; int */
    OPTION_SIZE,   /* 4GiB …; uint64_t */
    OPTION_RATIO,  /* 2% or 0.02; double */
    OPTION_CHOICE, /* argument is "a|b|c"; int, 1 for a, 2 for b … */
    OPTION_FORMAT, /* a name from render/formats.def; const struct format * */
    OPTION_JSON,   /* nothing; const struct format * becomes that of JSON */
};

struct option_rule {
    const char *name; /* long option without dashes; NULL ends a table */
    char letter;      /* short option, or 0 */
    enum option_kind kind;
    const char *argument; /* what help shows behind the option; NULL where nothing is taken */
    const char *text;     /* one line for help */
    size_t offset;        /* of the field in the struct that gets the value */
};

#define OPTION_TEXTS_MAX 64

struct option_texts {
    const char *values[OPTION_TEXTS_MAX];
    int count;
};

enum native_frames { NATIVE_FOLDED = 1, NATIVE_FULL }; /* as the choices stand in --native */

struct command_options {
    const char *command;
    const struct format *format; /* text unless given */
    const char *output;          /* a file name; NULL: stdout */
    int device;                  /* -1: all */
    int layer;                   /* enum memory_layer; LAYER_none: not given */
    const char *at;              /* NULL: not given */
    long top;                    /* 0: not given */
    struct option_texts debug_dirs;
    bool debuginfod;
    int native;            /* enum native_frames */
    const char **operands; /* pointing into argv */
    int operand_count;
};

/* argv[0] is the command's name. own_rules and own may be NULL. */
int options_parse(struct command_options *options, const struct option_rule *own_rules, void *own,
                  int argc, char **argv, struct err *err);

/* As options_parse, for `run`: the first operand ends the options, the rest is another program's.
 */
int options_parse_leading(struct command_options *options, const struct option_rule *own_rules,
                          void *own, int argc, char **argv, struct err *err);

/* The lines of an option list, for help; groups as in commands.def, or 0. */
struct text;
void options_describe(struct text *text, unsigned groups, const struct option_rule *own_rules);

#endif
