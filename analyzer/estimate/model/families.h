/* SPDX-License-Identifier: MIT */
/*
 * The model files that come with the command. Each is a family of models for the config.json of
 * Hugging Face, and has names, such as "resnet50", for configs of its own.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_FAMILIES_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_FAMILIES_H

#include <jansson.h>

#include "analyzer/util/nearest.h"
#include "gpumemtrace/err.h"

/* The family of a model_type: a new reference. NULL: ERR_INPUT lists the known types. */
json_t *family_open(const char *model_type, struct err *err);
/*
 * The family that has the name, in upper or lower case, and the name's config: new
 * references. NULL: no family has it.
 */
json_t *family_named(const char *name, json_t **config, struct err *err);
/* An object with a list of names for each family. A new reference; NULL: no memory. */
json_t *family_names(void);
/* The family as its file has it, unchecked: a new reference. NULL: there is no such family. */
json_t *family_load(const char *name);

#define FAMILY_HINT_BYTES NEAREST_HINT_BYTES
/* "; did you mean 'llama'?", or "". */
const char *family_hint(char hint[FAMILY_HINT_BYTES], const char *typed);

#endif
