/* SPDX-License-Identifier: MIT */
/*
 * Values for a model's dimensions from outside its file: the keys of a Hugging Face
 * config.json, and the words of --set.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_GIVEN_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_GIVEN_H

#include "dimensions.h"
#include "tuning.h"

#define ARCHITECTURE_NAME "architecture"
#define TRAINING_NAME "training"

struct given {
    const json_t *config; /* NULL: none */
    json_t *options;      /* an object; NULL: none */
    /* the config is that of a name, which relies on the family's values on purpose */
    bool is_named;
    bool inference; /* overrides the file's "training" */
    struct tuning tuning;
};

/* A word of --set as JSON: a number, true, false, or else a text. A new reference. */
json_t *given_word(const char *word);
/* "name=value,name=value" as an object, each value as given_word reads it. NULL: *err. */
json_t *given_parse(const char *words, struct err *err);
/*
 * Gives the dimensions the values of config and options. If the file has "architectures", the
 * dimension "architecture" is the first of those that the config names, else the first of the file.
 * "training" exists for every file.
 */
int given_apply(const struct given *given, struct dimensions *dimensions, const json_t *file,
                struct err *err);

#endif
