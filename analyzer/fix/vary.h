/* SPDX-License-Identifier: MIT */
/*
 * A number that a program takes from its command line or its environment:
 *
 *     --batch-size=32   --batch-size 32   -b 32   -b32   batch_size=32   +train.batch_size=32   BATCH=32
 *
 * A hyphen in a name is an underscore, and of "train.batch_size" the last part will do. It must not
 * know what the number means.
 */
#ifndef GPUMEMTRACE_ANALYZER_FIX_VARY_H
#define GPUMEMTRACE_ANALYZER_FIX_VARY_H

#include <stdbool.h>

#include "analyzer/util/text.h"
#include "gpumemtrace/err.h"

enum { VARY_NAME_BYTES = 128 };

struct vary {
    char name[VARY_NAME_BYTES]; /* as it was asked for */
    int argument;               /* whose end is the value; 0: a variable */
    size_t before;              /* bytes of that argument before the value */
    long value;                 /* as it is, at least 1; 0: it has a range */
    long low, high, step;       /* of the range: low, low + step … up to high */
};

/* Where `name` stands in argv, or else in the environment. -1: *err says what does. */
int vary_find(struct vary *vary, const char *name, char **argv, int argc, struct err *err);
/* The same of "NAME:LOW..HIGH" or "NAME:LOW..HIGH/STEP"; what stands nowhere becomes a variable. */
int vary_find_range(struct vary *vary, const char *text, char **argv, int argc, struct err *err);

/* " --vary=batch-size --vary=BATCH": what has a name that `is_wanted` takes, and a whole number above 1, in argv or else
 * in the environment. How many; at most `most`. */
size_t vary_offer(struct text *text, char **argv, int argc, bool (*is_wanted)(const char *name),
                  size_t most);

/* The argument, or the variable "NAME=VALUE", with another value. */
void vary_write(struct text *text, const struct vary *vary, char **argv, long value);

#endif
