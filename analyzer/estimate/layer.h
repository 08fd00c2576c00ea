/* SPDX-License-Identifier: MIT */
/*
 * One layer of a model: what a file may say about it (fields.def), and what its kind (layers.def)
 * knows: the shape it makes, its tensors, what autograd keeps of it. It must not know files,
 * optimizers or the order in which memory comes and goes.
 *
 * Shapes are those of one sample; only struct flow knows the batch.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_LAYER_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtype.h"
#include "gpumemtrace/err.h"
#include "shape.h"
#include "tensors.h"

#define SPATIAL_MAX 3
#define FIELD_MOST (UINT64_C(1) << 40) /* of any integer in a model file */
#define RECURRENT_LAYERS_MOST 1024

/* --- fields --- */

enum layer_field {
#define FIELD(name, type, least, standard, aliases, text) FIELD_##name,
#include "fields.def"
    FIELD_COUNT
};

enum field_type {
    FIELD_TYPE_COUNT,
    FIELD_TYPE_SIZES,
    FIELD_TYPE_SHAPE,
    FIELD_TYPE_FLAG,
    FIELD_TYPE_SHARE
};

#define FIELD_MEMBER_COUNT(name) uint64_t name;
#define FIELD_MEMBER_SIZES(name) uint64_t name[SPATIAL_MAX];
#define FIELD_MEMBER_SHAPE(name) struct shape name;
#define FIELD_MEMBER_FLAG(name) bool name;
#define FIELD_MEMBER_SHARE(name) double name;
struct layer_fields {
#define FIELD(name, type, least, standard, aliases, text) FIELD_MEMBER_##type(name)
#include "fields.def"
};

/* --- layers --- */

struct layer {
    const struct layer_kind *kind;
    size_t index; /* place in the model, from 0 */
    char name[64];
    uint32_t given; /* bit of each enum layer_field the file has */
    struct layer_fields fields;
    struct shape input, output; /* of one sample; known once the model is resolved */
};

/* What runs through a layer. */
struct flow {
    struct shape input, output; /* of one sample */
    uint64_t batch;
    enum dtype dtype;
    bool training;
    uint64_t input_elements, output_elements; /* of the batch */
};

/* What autograd holds of a layer besides its own extra tensors; bits. */
enum saves {
    SAVES_none = 0,
    SAVES_input = 1 << 0,
    SAVES_result = 1 << 1,
    SAVES_both = SAVES_input | SAVES_result,
    SAVES_clone = 1 << 2, /* an in-place form that needs its input keeps a copy */
};

enum layer_trait {
    TRAIT_values = 1 << 0, /* the rule of thumb's tables count its results */
    TRAIT_resize = 1 << 1, /* as values, but only where the shape changes */
    TRAIT_view = 1 << 2,   /* the output is the input's storage */
    TRAIT_ids = 1 << 3,    /* reads integer ids, passes no gradient back */
    TRAIT_loss = 1 << 4,   /* ends the model with one number */
    TRAIT_wide = 1 << 5,   /* … which lies in a storage of the input's size */
    TRAIT_train = 1 << 6,  /* does something in training only (dropout) */
};

struct layer_kind {
    const char *name;
    unsigned rank; /* dimensions of windows; 0: none */
    uint32_t fields, required;
    unsigned saves, saves_inplace;
    unsigned traits;
    /* Checks fields against the input, fills in what can be inferred, and gives the output. */
    int (*shape)(struct layer *layer, const struct shape *input, struct shape *output,
                 struct err *err);
    /* Adds parameters and buffers, each in the order PyTorch registers them. */
    void (*parameters)(const struct layer *layer, enum dtype dtype, struct tensors *tensors);
    /* Adds what the forward pass makes besides its result: activations are saved for backward,
     * temporaries die with the layer, input (a loss's target) arrives with the batch. */
    void (*extra)(const struct layer *layer, const struct flow *flow, struct tensors *tensors);
    /* Adds temporaries of the backward pass besides the gradient of the input. */
    void (*backward)(const struct layer *layer, const struct flow *flow, struct tensors *tensors);
};

/* Empty fields of a kind, with the standard values. */
void layer_init(struct layer *layer, const struct layer_kind *kind, size_t index);
bool layer_gives(const struct layer *layer, enum layer_field field);
/* In-place, or the very storage of the input. */
bool layer_keeps_storage(const struct layer *layer, bool training);
/* "layer 3 (Conv2d)" before the message; field may be NULL. Always returns -1. */
int layer_fail(const struct layer *layer, const char *field, struct err *err, const char *format,
               ...) GMT_PRINTF(4, 5);
/* Says that the layer is too large to count, naming the field with the largest value. */
int layer_fail_overflow(const struct layer *layer, struct err *err);

#define SIZES_FOR_EACH(i, layer) for (unsigned i = 0; i < (layer)->kind->rank; i++)

#endif
