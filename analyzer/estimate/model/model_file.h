/* SPDX-License-Identifier: MIT */
/*
 * Reads the description of a model: a file of ours, a config.json of Hugging Face, which is read through the family of
 * its model_type, beside files of weights or without, or a name that a family has a config for. It must not know the fields of a layer.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_MODEL_FILE_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_MODEL_FILE_H

#include <jansson.h>

#include "analyzer/estimate/weights/weights.h"
#include "edits.h"
#include "model.h"
#include "tuning.h"

#define MODEL_FILE_MOST_BYTES (64 << 20)

/* What the command line says about the model itself. */
struct model_request {
    const char *set; /* dimensions as "name=value,name=value", later ones win; NULL: none */
    bool inference;
    unsigned edits; /* enum model_edit: changes to what the description says */
    struct tuning tuning;
};

/* A description that was read once, for one model or several. */
struct model_source {
    json_t *root;           /* NULL: files of weights with nothing that describes the model */
    json_t *family;         /* of a name, whose config the root is; NULL: of none */
    const char *name;       /* for messages */
    struct weights weights; /* of its files; format NULL: there are none */
    char *why_no_model; /* what is wrong with the config.json beside them; NULL: there is none */
};

/* The files of that path, "-" for standard input, or a name where there is no such file. The path must outlive the source. */
int model_source_open(struct model_source *source, const char *path, struct err *err);
void model_source_release(struct model_source *source);

/* Reads and resolves it. ERR_INPUT names the file, the layer and the field. */
int model_make(struct model *model, const struct model_source *source,
               const struct model_request *request, struct err *err);
/* Both, for one model. */
int model_open(struct model *model, const char *path, const struct model_request *request,
               struct err *err);

#endif
