/* SPDX-License-Identifier: MIT */
/*
 * The model files that come with the command. Each is a family of models and reads the config.json
 * of Hugging Face for such models. It may also have configs of its own, with names such as
 * "resnet50".
 */
#pragma once

#include <jansson.h>

#include "analyzer/util/nearest.h"
#include "gpumemtrace/err.h"

/* Returns the family of a model_type: a new reference. NULL: ERR_INPUT lists the known types. */
json_t *family_open(const char *model_type, struct err *err);
/*
 * Returns the family that has the name, in upper or lower case, and sets *config to the name's
 * config. Both are new references. NULL: no family has the name.
 */
json_t *family_named(const char *name, json_t **config, struct err *err);
/* Returns an object with a list of names for each family. A new reference; NULL: no memory. */
json_t *family_names(void);
/* Returns the content of the family's file, unchecked: a new reference. NULL: there is no such
 * family. */
json_t *family_load(const char *name);

#define FAMILY_HINT_BYTES NEAREST_HINT_BYTES
/* Returns a hint such as "; did you mean 'llama'?", or "". */
const char *family_hint(char hint[FAMILY_HINT_BYTES], const char *typed);
