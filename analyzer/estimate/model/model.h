/* SPDX-License-Identifier: MIT */
/*
 * A model to estimate. It has a graph of layers with their shapes, in which each layer reads
 * earlier layers, and the settings of its run. Each kind of description has a reader that fills the
 * model.
 */
#pragma once

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
#define MODEL_INPUT SIZE_MAX /* in a list of inputs: the model's input */

/* The dimensions that answer/ varies; 0: the description has no dimension of that name. */
struct model_sizes {
    uint64_t sequence, image_size;
    uint64_t positions; /* length of the longest sequence that the model is made for */
};

struct stored;

struct model {
    char *name;
    const char *kind;   /* the reader that made it, as "layer-list" */
    struct shape input; /* of one sample */
    struct layer *layers;
    size_t layer_count;
    /* numbers of the layers, in the order in which the model's class makes the layers */
    size_t *registered;
    size_t *inputs; /* inputs of all layers: numbers of earlier layers, or MODEL_INPUT */
    size_t input_count, input_capacity;
    const struct shape **input_shapes; /* the shape of each of `inputs`; set by model_resolve */
    char *notes[MODEL_NOTES_MOST];     /* notes in the description */
    size_t note_count;
    struct stored *stored; /* its tensors in weight files; NULL: there are none */
    struct model_sizes sizes;
    struct settings settings;
};

/* Frees all that a reader made. A zeroed struct is allowed. */
void model_release(struct model *model);

/* Moves all of `from` to `to`, and zeroes `from`. */
void model_move(struct model *to, struct model *from);

/* For readers: adds a copy of a note in the description. */
int model_note(struct model *model, const char *note, struct err *err);

/*
 * For readers: computes the shapes through all layers, infers missing fields, and checks that
 * each layer fits its inputs.
 */
int model_resolve(struct model *model, struct err *err);
