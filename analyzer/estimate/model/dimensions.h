/* SPDX-License-Identifier: MIT */
/*
 * The named dimensions of a model: each a value or an expression of others, as the model file says,
 * unless a config or an option gives it. Also what follows from them: fields that are expressions, names
 * with {expressions} in them. It must not know layers.
 *
 * The JSON that was given outlives them.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_DIMENSIONS_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_DIMENSIONS_H

#include "expression.h"

#define DIMENSIONS_MOST 128
#define DIMENSIONS_DEPTH_MOST 16

/* Texts of the file, which the first two are, are expressions. */
enum dimension_source { DIMENSION_standard, DIMENSION_null, DIMENSION_config, DIMENSION_option };

struct dimension {
    const char *name;
    const json_t *given;
    bool is_key; /* of a config, which may give it; options may give all */
    enum dimension_source source;
    enum { DIMENSION_untouched, DIMENSION_computing, DIMENSION_known } state;
    struct value value;
};

struct dimensions {
    struct names names; /* first, for expressions */
    struct dimension items[DIMENSIONS_MOST];
    size_t count;
    /* How often the innermost block has run, and the one around it; NULL: in none. */
    const uint64_t *index, *outer;
    unsigned depth; /* of dimensions that are being computed, each for another */
};

#define DIMENSIONS_FIELD "dimensions"
#define CONFIG_FIELD "config"
/* What the objects "config" and "dimensions" of a model file say, if it has them. */
int dimensions_read(struct dimensions *dimensions, const json_t *file, struct err *err);
/* One more, whose texts are texts. */
int dimensions_add(struct dimensions *dimensions, const char *name, const json_t *value,
                   struct err *err);
/*
 * A config gives values for the keys that there are; other keys change nothing. null is the value of the file, or what its
 * "nulls" say of the key.
 */
void dimensions_give(struct dimensions *dimensions, const json_t *config, const json_t *nulls);
/* One name that has to exist, unlike those of a config. */
int dimensions_give_one(struct dimensions *dimensions, const char *name, const json_t *value,
                        struct err *err);

/*
 * The plain JSON of a field: texts are computed, alone or in a list. A new reference; NULL: *err says
 * what is wrong.
 */
json_t *dimensions_plain(struct dimensions *dimensions, const json_t *field, struct err *err);
/* Whether a condition holds: a text is computed, true and false are themselves. */
int dimensions_holds(struct dimensions *dimensions, const json_t *condition, bool *holds,
                     struct err *err);
/* A text with each {expression} replaced by what it comes to. -1: too long, or *err says what is wrong. */
int dimensions_fill(struct dimensions *dimensions, const char *text, char *filled, size_t bytes,
                    struct err *err);

#endif
