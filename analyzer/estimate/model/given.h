/* SPDX-License-Identifier: MIT */
/*
 * What is given for the dimensions of a model from outside its file: the keys of a Hugging Face config.json, and the
 * words of --set. It must not know layers.
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
    bool is_named;  /* the config is that of a name, which has the family's values on purpose */
    bool inference; /* whatever the file says */
    struct tuning tuning;
};

/* A word of --set as JSON: a number, true or false, else a text. A new reference. */
json_t *given_word(const char *word);
/* "name=value,name=value" as an object: numbers, true and false are themselves, the rest is text. NULL: *err. */
json_t *given_parse(const char *words, struct err *err);
/*
 * Gives the dimensions what there is for them. In a file with "architectures" the dimension of that name
 * is the config's first of them, else the first of the file; "training" is there in all files.
 */
int given_apply(const struct given *given, struct dimensions *dimensions, const json_t *file,
                struct err *err);

#endif
