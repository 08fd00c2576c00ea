/* SPDX-License-Identifier: MIT */
/*
 * Reads the description of a model: a file of ours, a config.json of Hugging Face (with or without
 * weight files beside it), or a name for which a family has a config. A config.json is read
 * through the family of its model_type.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_MODEL_FILE_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_MODEL_FILE_H

#include <jansson.h>

#include "analyzer/estimate/weights/weights.h"
#include "edits.h"
#include "model.h"
#include "tuning.h"

#define MODEL_FILE_MOST_BYTES (64 << 20)

/* The command line's words about the model itself. */
struct model_request {
    const char *set; /* dimensions as "name=value,name=value", the last wins; NULL: none */
    bool inference;
    unsigned edits; /* enum model_edit: changes to the description */
    struct tuning tuning;
};

/* A description, read once for one model or several. */
struct model_source {
    json_t *root;           /* NULL: weight files without a description of the model */
    json_t *family;         /* the family of a name, whose config is `root`; NULL: no name */
    const char *name;       /* for messages */
    struct weights weights; /* of its weight files; format NULL: there are none */
    /* why the config.json beside the weight files cannot be read; NULL: there is no problem */
    char *why_no_model;
};

/*
 * Reads the files of a path, "-" for standard input, or a name if there is no such file.
 * The path must outlive the source.
 */
int model_source_open(struct model_source *source, const char *path, struct err *err);
void model_source_release(struct model_source *source);

/* Makes and resolves the model. ERR_INPUT names the file, the layer and the field. */
int model_make(struct model *model, const struct model_source *source,
               const struct model_request *request, struct err *err);
/* Opens the source and makes one model of it. */
int model_open(struct model *model, const char *path, const struct model_request *request,
               struct err *err);

#endif
