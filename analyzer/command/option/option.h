/* SPDX-License-Identifier: MIT */
/* One option as a row of a table, and the values of the shared options. The rows of shared options
 * are in shared_options.c; the rows of a command's own options are in the command's file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command.h"
#include "analyzer/render/format.h"

/* The kind of value that an option takes, and the type of the field that gets it. */
enum option_kind {
    OPTION_FLAG,   /* takes no value; the bool becomes true */
    OPTION_TEXT,   /* const char *, pointing into argv */
    OPTION_TEXTS,  /* may be given several times; struct option_texts */
    OPTION_MAYBE,  /* --name or --name=TEXT; const char *, "" without text */
    OPTION_COUNT,  /* an integer from 1; long */
    OPTION_INDEX,  /* an integer from 0; int */
    OPTION_SIZE,   /* 4GiB …; uint64_t */
    OPTION_RATIO,  /* 2% or 0.02; double */
    OPTION_CHOICE, /* argument is "a|b|c"; int, 1 for a, 2 for b … */
    OPTION_WORD,   /* like OPTION_CHOICE; const char *, the choice as it was typed */
    OPTION_FORMAT, /* a name from render/formats.def; const struct format * */
    OPTION_JSON,   /* takes no value; const struct format * becomes the format of JSON */
};

struct option_rule {
    const char *name; /* long option without dashes; NULL ends a table */
    char letter;      /* short option, or 0 */
    enum option_kind kind;
    /* the text that help shows behind the option; NULL: the option takes no value */
    const char *argument;
    const char *text; /* one line for help */
    size_t offset;    /* offset of the field that gets the value */
};

#define OPTION_TEXTS_MAX 64

struct option_texts {
    const char *values[OPTION_TEXTS_MAX];
    int count;
};

enum nvtx_ranges { NVTX_PROGRAM = 1, NVTX_ALL };       /* in the order of the choices of --nvtx */
enum native_frames { NATIVE_FOLDED = 1, NATIVE_FULL }; /* in the order of the choices of --native */

struct command_options {
    const struct command *command;
    const struct format *format; /* text if the user gave no format */
    const char *output;          /* a file name; NULL: stdout */
    int device;                  /* -1: all devices */
    int layer;                   /* enum memory_layer; LAYER_none: not given */
    const char *at;              /* NULL: not given */
    long top;                    /* 0: not given */
    struct option_texts debug_dirs;
    bool debuginfod;
    bool series;
    int native;                  /* enum native_frames */
    int nvtx;                    /* enum nvtx_ranges */
    uint64_t memory_limit_bytes; /* 0: not given */
    bool every_trace;            /* show the traces of similar ranks, too */
    const char **operands;       /* pointing into argv */
    int operand_count;
};
