/* SPDX-License-Identifier: MIT */
/*
 * Values for a model's dimensions that come from outside the model file: from the keys of a Hugging
 * Face config.json, and from the option --set.
 */
#pragma once

#include "dimensions.h"
#include "tuning.h"

#define ARCHITECTURE_NAME "architecture"
#define TRAINING_NAME "training"

struct given {
    const json_t *config; /* NULL: none */
    json_t *options;      /* an object; NULL: none */
    /* the config belongs to a name, so the keys that it lacks have the family's values on
     * purpose */
    bool is_named;
    bool inference; /* overrides the file's "training" */
    struct tuning tuning;
};

/* Returns a value of --set as JSON: a number, true, false, or a text for all else. A new
 * reference. */
json_t *given_word(const char *word);
/* Parses "name=value,name=value" to an object, with values by given_word. NULL: *err says why. */
json_t *given_parse(const char *words, struct err *err);
/*
 * Gives the dimensions the values of config and options. If the file has "architectures", the
 * dimension "architecture" is the first class that the config names, or the file's first class if
 * the config names none. The dimension "training" exists for every file.
 */
int given_apply(const struct given *given, struct dimensions *dimensions, const json_t *file,
                struct err *err);
