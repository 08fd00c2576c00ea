/* SPDX-License-Identifier: MIT */
/*
 * The named dimensions of a model. In the model file, a dimension is a value or an expression of
 * other dimensions. A config or an option may give it another value. Fields that are expressions,
 * and names with {expressions}, are computed from the dimensions.
 *
 * The caller's JSON must outlive the dimensions.
 */
#pragma once

#include "expression.h"

#define DIMENSIONS_MOST 128
#define DIMENSIONS_DEPTH_MOST 16

/* The source of a value. If the value is a text from the file (the first two sources), it is an
 * expression. */
enum dimension_source { DIMENSION_standard, DIMENSION_null, DIMENSION_config, DIMENSION_option };

struct dimension {
    const char *name;
    const json_t *standard; /* the model file's value or expression; NULL: it has none */
    const json_t *given;
    bool is_key; /* a config may give its value; options may give any dimension's value */
    enum dimension_source source;
    enum { DIMENSION_untouched, DIMENSION_computing, DIMENSION_known } state;
    struct value value;
};

struct dimensions {
    struct names names; /* the first member, because expressions get a pointer to it */
    struct dimension items[DIMENSIONS_MOST];
    size_t count;
    /*
     * Number of the current repetition of the innermost block, and of the block around that block;
     * NULL: there is no such block.
     */
    const uint64_t *index, *outer;
    unsigned depth; /* number of dimensions that are being computed, each for another one */
};

#define DIMENSIONS_FIELD "dimensions"
#define CONFIG_FIELD "config"
/* Reads the objects "config" and "dimensions" of a model file, if it has them. */
int dimensions_read(struct dimensions *dimensions, const json_t *file, struct err *err);
/* Adds one dimension. If its value is a text, that is a plain text, not an expression. */
int dimensions_add(struct dimensions *dimensions, const char *name, const json_t *value,
                   struct err *err);
/*
 * Gives dimensions the values of the config's keys. Keys that are no dimension change nothing. A
 * null in the config stands for the file's value, or for the value that the file's "nulls" has for
 * it.
 */
void dimensions_give(struct dimensions *dimensions, const json_t *config, const json_t *nulls);
/* Gives one dimension its value. Unlike a config's key, the name must exist. */
int dimensions_give_one(struct dimensions *dimensions, const char *name, const json_t *value,
                        struct err *err);
/* Checks that each value from a config or an option is of the same kind as the file's value. */
int dimensions_check(struct dimensions *dimensions, struct err *err);

/*
 * Returns the plain JSON of a field, in which texts, alone or in a list, are computed as
 * expressions. A new reference. NULL: *err says what is wrong.
 */
json_t *dimensions_plain(struct dimensions *dimensions, const json_t *field, struct err *err);
/* Finds whether a condition holds: an expression in a text, or true or false. */
int dimensions_holds(struct dimensions *dimensions, const json_t *condition, bool *holds,
                     struct err *err);
/*
 * Copies the text to `filled` and replaces each {expression} by its value. -1: *err says why, for
 * example because the text is too long.
 */
int dimensions_fill(struct dimensions *dimensions, const char *text, char *filled, size_t bytes,
                    struct err *err);
