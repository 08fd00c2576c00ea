/* SPDX-License-Identifier: MIT */
/*
 * A model to estimate: a graph of layers with their shapes, each reading layers before it, and how it is run. A reader (one for
 * each kind of description) fills it. It must not know memory.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_MODEL_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/estimate/layer/dtype.h"
#include "analyzer/estimate/layer/layer.h"
#include "settings.h"
#include "gpumemtrace/err.h"

#define MODEL_LAYERS_MOST 10000
#define MODEL_INPUTS_MOST 1000 /* of one layer */
#define MODEL_NOTES_MOST 16
#define MODEL_INPUT SIZE_MAX /* in a list of inputs: what goes into the model */

/* Dimensions that answers vary; 0: the description has none of that name. */
struct model_sizes {
    uint64_t sequence, image_size;
    uint64_t positions; /* the longest sequence that it is made for */
};

struct stored;

struct model {
    char *name;
    const char *kind;   /* which reader made it: "layer-list" */
    struct shape input; /* of one sample */
    struct layer *layers;
    size_t layer_count;
    size_t *registered; /* their numbers, in the order in which the model's class makes them */
    size_t *inputs;     /* what layers read: layers before them, or MODEL_INPUT */
    size_t input_count, input_capacity;
    const struct shape **input_shapes; /* of each of these; once resolved */
    char *notes[MODEL_NOTES_MOST];     /* what the description says about itself */
    size_t note_count;
    struct stored *stored; /* what files of weights hold of it; NULL: there are none */
    struct model_sizes sizes;
    struct settings settings;
};

/* Frees what a reader made; a zeroed struct is allowed. */
void model_release(struct model *model);

/* `to` takes all over; `from` is zeroed. */
void model_move(struct model *to, struct model *from);

/* For readers: adds a copy of what the description says about itself. */
int model_note(struct model *model, const char *note, struct err *err);

/*
 * For readers: computes the shapes through all layers, infers fields that are missing, and checks
 * that each layer fits where it is.
 */
int model_resolve(struct model *model, struct err *err);

#endif
