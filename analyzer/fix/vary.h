/* SPDX-License-Identifier: MIT */
/*
 * A number that a program takes from its command line or its environment, and that may become smaller:
 *
 *     --batch-size=32   --batch-size 32   -b 32   -b32   batch_size=32   +train.batch_size=32   BATCH=32
 *
 * A hyphen in a name is an underscore, and of "train.batch_size" the last part will do. It must not
 * know what the number means.
 */
#ifndef GPUMEMTRACE_ANALYZER_FIX_VARY_H
#define GPUMEMTRACE_ANALYZER_FIX_VARY_H

#include "analyzer/util/text.h"
#include "gpumemtrace/err.h"

struct vary {
    const char *name; /* as it was asked for */
    int argument;     /* whose end is the value; 0: a variable */
    long value;       /* as it is; at least 1 */
    size_t before;    /* bytes of that argument before the value */
};

/* Where `name` stands in argv, or else in the environment. -1: *err says what does. */
int vary_find(struct vary *vary, const char *name, char **argv, int argc, struct err *err);

/* The argument, or the variable "NAME=VALUE", with another value. */
void vary_write(struct text *text, const struct vary *vary, char **argv, long value);

#endif
