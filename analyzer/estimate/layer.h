/* SPDX-License-Identifier: MIT */
/*
 * One layer of a model: the fields that a file may give it (fields.def), and what its kind
 * (layers.def) knows: the shape it makes, its tensors, what autograd saves of it. It must not know
 * files, optimizers or the order of allocations.
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
    uint32_t given; /* bits of the enum layer_field that the file has */
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

/* What autograd saves of a layer besides its extra tensors; bits. */
enum saves {
    SAVES_none = 0,
    SAVES_input = 1 << 0,
    SAVES_result = 1 << 1,
    SAVES_both = SAVES_input | SAVES_result,
    SAVES_clone = 1 << 2, /* a copy of the input, for in-place forms that need it */
};

enum layer_trait {
    TRAIT_values = 1 << 0, /* the rule of thumb counts its results */
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
    /* Checks the fields against the input, infers those that are missing, and fills the output. */
    int (*shape)(struct layer *layer, const struct shape *input, struct shape *output,
                 struct err *err);
    /* Adds parameters and buffers, each in the order PyTorch registers them. */
    void (*parameters)(const struct layer *layer, enum dtype dtype, struct tensors *tensors);
    /*
     * Adds what the forward pass makes besides the result: activations are saved for backward,
     * temporaries end with the layer, input (the target of a loss) comes with the batch.
     */
    void (*extra)(const struct layer *layer, const struct flow *flow, struct tensors *tensors);
    /* Adds the temporaries of the backward pass besides the gradient of the input. */
    void (*backward)(const struct layer *layer, const struct flow *flow, struct tensors *tensors);
};

/* A layer of that kind whose fields have the standard values. */
void layer_init(struct layer *layer, const struct layer_kind *kind, size_t index);
bool layer_gives(const struct layer *layer, enum layer_field field);
/* Whether the output is in the storage of the input: a view, an in-place form, or nothing done. */
bool layer_keeps_storage(const struct layer *layer, bool training);
/* ERR_INPUT: "layer 3 (Conv2d), field …: " and the message. field may be NULL. Returns -1. */
int layer_fail(const struct layer *layer, const char *field, struct err *err, const char *format,
               ...) GMT_PRINTF(4, 5);
/* Says that the layer is too large to count, naming the field with the largest value. */
int layer_fail_overflow(const struct layer *layer, struct err *err);

#define SIZES_FOR_EACH(i, layer) for (unsigned i = 0; i < (layer)->kind->rank; i++)

#endif
