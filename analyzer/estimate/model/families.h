/* SPDX-License-Identifier: MIT */
/*
 * The model files that come with the command: families of models, for the config.json of Hugging Face and for names, as
 * "resnet50", which are configs that a family brings along. It must not know layers.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_FAMILIES_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_FAMILIES_H

#include <jansson.h>

#include "analyzer/util/nearest.h"
#include "gpumemtrace/err.h"

/* The family that has the model_type: a new reference. NULL: ERR_INPUT lists those there are. */
json_t *family_open(const char *model_type, struct err *err);
/* The family that has the name, in upper or lower case, and what the name stands for: new references. NULL: none has. */
json_t *family_named(const char *name, json_t **config, struct err *err);
/* An object that has a list of names for each family. A new reference; NULL: no memory. */
json_t *family_names(void);
/* The family as its file has it, whatever it is like: a new reference. NULL: there is none. */
json_t *family_load(const char *name);

#define FAMILY_HINT_BYTES NEAREST_HINT_BYTES
/* "; did you mean 'llama'?", or "". */
const char *family_hint(char hint[FAMILY_HINT_BYTES], const char *typed);

#endif
