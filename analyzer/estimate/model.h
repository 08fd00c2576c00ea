/* SPDX-License-Identifier: MIT */
/*
 * A model to estimate: a chain of layers with their shapes, and how it is run. A reader (one for
 * each kind of description) fills it. It must not know memory.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtype.h"
#include "layer.h"
#include "optimizer.h"
#include "gpumemtrace/err.h"

#define MODEL_LAYERS_MOST 10000

/* How the model is run: the file may say so, options override it. */
struct settings {
    uint64_t batch;
    enum dtype dtype;
    enum optimizer optimizer;
    bool training;
    uint64_t workspace_bytes; /* of libraries, kept from the first step on; 0: not counted */
};

struct model {
    char *name;
    const char *kind;   /* which reader made it: "layer-list" */
    struct shape input; /* of one sample */
    struct layer *layers;
    size_t layer_count;
    struct settings settings;
};

/* Frees what a reader made; a zeroed struct is allowed. */
void model_release(struct model *model);

/*
 * For readers: computes the shapes through all layers, infers fields that are missing, and checks
 * that each layer fits where it is.
 */
int model_resolve(struct model *model, struct err *err);

/* The settings where a description has none: training, batch 1, float32, AdamW. */
struct settings settings_standard(void);

#endif
