/* SPDX-License-Identifier: MIT */
/*
 * Reads the description of a model: a model file of gpumemtrace, a config.json of Hugging Face
 * (with or without weight files beside it), or a name for which a family has a config. A
 * config.json is read by the family of its model_type.
 */
#pragma once

#include <jansson.h>

#include "analyzer/estimate/weights/weights.h"
#include "edits.h"
#include "model.h"
#include "tuning.h"

#define MODEL_FILE_MOST_BYTES (64 << 20)

/* Changes to the model that the command line asks for. */
struct model_request {
    /* dimensions as "name=value,name=value"; the last value of a name counts; NULL: none */
    const char *set;
    bool inference;
    unsigned edits; /* enum model_edit: changes to the description */
    struct tuning tuning;
};

/* A description. It is read once, and one or several models can be made from it. */
struct model_source {
    json_t *root;           /* NULL: weight files without a description of the model */
    json_t *family;         /* the family of a name, whose config is `root`; NULL: no name */
    const char *name;       /* for messages */
    struct weights weights; /* tensors of its weight files; format NULL: there are no files */
    /* why the config.json beside the weight files cannot be read; NULL: there is no problem */
    char *why_no_model;
};

/*
 * Reads the files of a path. The path "-" means standard input. If there is no such file, the path
 * may be a name that a family has. The path must outlive the source.
 */
int model_source_open(struct model_source *source, const char *path, struct err *err);
void model_source_release(struct model_source *source);

/* Makes the model and resolves its shapes. ERR_INPUT names the file, the layer and the field. */
int model_make(struct model *model, const struct model_source *source,
               const struct model_request *request, struct err *err);
