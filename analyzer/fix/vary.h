/* SPDX-License-Identifier: MIT */
/*
 * A number that a program takes from its command line or its environment:
 *
 *     --batch-size=32   --batch-size 32   -b 32   -b32
 *     batch_size=32     +train.batch_size=32      BATCH=32
 *
 * A hyphen in a name counts as an underscore. The last part of "train.batch_size" is enough.
 */
#pragma once

#include <stdbool.h>

#include "analyzer/util/text.h"
#include "gpumemtrace/err.h"

enum { VARY_NAME_BYTES = 128 };

struct vary {
    char name[VARY_NAME_BYTES]; /* copied from the user's option */
    /* the argument that ends with the value; 0: the number is a variable */
    int argument;
    size_t before;        /* bytes of that argument before the value */
    long value;           /* the original value, at least 1; 0: the number has a range */
    long low, high, step; /* the values of the range: low, low + step … up to high */
};

/* Finds `name` in argv, or in the environment if argv lacks it. On -1, *err has a hint at a similar
 * name. */
int vary_find(struct vary *vary, const char *name, char **argv, int argc, struct err *err);
/*
 * Finds "NAME:LOW..HIGH" or "NAME:LOW..HIGH/STEP" in the same way. A name that is in neither
 * becomes a variable, unless the command line has a similar name.
 */
int vary_find_range(struct vary *vary, const char *text, char **argv, int argc, struct err *err);

/*
 * Adds " --vary=batch-size --vary=BATCH": the names that `is_wanted` accepts and whose value is a
 * whole number above 1. Takes them from argv first, and afterwards from the environment. Returns
 * how many it added, at most `most`.
 */
size_t vary_offer(struct text *text, char **argv, int argc, bool (*is_wanted)(const char *name),
                  size_t most);

/* Adds the argument with another value, or the variable as "NAME=VALUE" with another value. */
void vary_write(struct text *text, const struct vary *vary, char **argv, long value);
