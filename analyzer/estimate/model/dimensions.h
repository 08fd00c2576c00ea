/* SPDX-License-Identifier: MIT */
/*
 * The named dimensions of a model. A dimension is a value or an expression of other dimensions in
 * the model file, unless a config or an option gives its value. Fields that are expressions and
 * names with {expressions} are computed from them.
 *
 * The caller's JSON outlives the dimensions.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_DIMENSIONS_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_DIMENSIONS_H

#include "expression.h"

#define DIMENSIONS_MOST 128
#define DIMENSIONS_DEPTH_MOST 16

/* Where a value comes from. Texts from the file (the first two) are expressions. */
enum dimension_source { DIMENSION_standard, DIMENSION_null, DIMENSION_config, DIMENSION_option };

struct dimension {
    const char *name;
    const json_t *given;
    bool is_key; /* a config may give its value, too; options may give any */
    enum dimension_source source;
    enum { DIMENSION_untouched, DIMENSION_computing, DIMENSION_known } state;
    struct value value;
};

struct dimensions {
    struct names names; /* first, for expressions */
    struct dimension items[DIMENSIONS_MOST];
    size_t count;
    /*
     * Number of the innermost block's current repetition, and of the
     * block around it; NULL: in no block.
     */
    const uint64_t *index, *outer;
    unsigned depth; /* dimensions that are being computed, each for another one */
};

#define DIMENSIONS_FIELD "dimensions"
#define CONFIG_FIELD "config"
/* Reads the objects "config" and "dimensions" of a model file, if it has them. */
int dimensions_read(struct dimensions *dimensions, const json_t *file, struct err *err);
/* Adds one dimension. A text as its value is a text, not an expression. */
int dimensions_add(struct dimensions *dimensions, const char *name, const json_t *value,
                   struct err *err);
/*
 * Takes the config's values for the keys that exist; other keys change nothing. null stands for the
 * file's value, or for what the file's "nulls" has for the key.
 */
void dimensions_give(struct dimensions *dimensions, const json_t *config, const json_t *nulls);
/* Gives one dimension its value. Unlike a config's key, the name must exist. */
int dimensions_give_one(struct dimensions *dimensions, const char *name, const json_t *value,
                        struct err *err);

/*
 * The plain JSON of a field: texts are computed, alone or in a list. A new reference.
 * NULL: *err says what is wrong.
 */
json_t *dimensions_plain(struct dimensions *dimensions, const json_t *field, struct err *err);
/* Whether a condition holds: a text is an expression, true and false stand for themselves. */
int dimensions_holds(struct dimensions *dimensions, const json_t *condition, bool *holds,
                     struct err *err);
/*
 * Fills `filled` with the text, each {expression} replaced by its
 * value. -1: *err, as for a long text.
 */
int dimensions_fill(struct dimensions *dimensions, const char *text, char *filled, size_t bytes,
                    struct err *err);

#endif
