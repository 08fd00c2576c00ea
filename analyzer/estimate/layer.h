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

#include "analyzer/analysis/category.h"
#include "checked.h"
#include "dtype.h"
#include "gpumemtrace/err.h"

#define SHAPE_RANK_MAX 6
#define SPATIAL_MAX 3
#define FIELD_MOST (UINT64_C(1) << 40) /* of any integer in a model file */
#define RECURRENT_LAYERS_MOST 1024

struct shape {
    unsigned rank;
    uint64_t dims[SHAPE_RANK_MAX];
};

uint64_t shape_elements(const struct shape *shape, struct checked *checked);
#define SHAPE_TEXT_BYTES 128
/* "64 x 112 x 112"; "scalar" for rank 0. */
const char *shape_text(const struct shape *shape, char text[SHAPE_TEXT_BYTES]);

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

/* --- tensors --- */

/* count tensors of the same size; each is an allocation of its own. */
struct tensor {
    enum category category;
    uint64_t element_bytes, elements, count;
};

#define TENSORS_MAX 12

struct tensors {
    struct tensor items[TENSORS_MAX];
    size_t count;
    struct checked checked;
};

void tensors_add(struct tensors *tensors, enum category category, uint64_t element_bytes,
                 uint64_t elements, uint64_t count);
/* Sums over one category. */
uint64_t tensors_elements(struct tensors *tensors, enum category category);
uint64_t tensors_bytes(struct tensors *tensors, enum category category);

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

extern const struct layer_kind layer_kinds[];
extern const size_t layer_kind_count;

/* NULL: no such type. Names are PyTorch's, case matters. */
const struct layer_kind *layer_kind_find(const char *name);
/* Empty fields of a kind, with the standard values. */
void layer_init(struct layer *layer, const struct layer_kind *kind, size_t index);
bool layer_gives(const struct layer *layer, enum layer_field field);
/* In-place, or the very storage of the input. */
bool layer_keeps_storage(const struct layer *layer, bool training);
/* The saves bits that apply to this layer as its fields stand. */
unsigned layer_saves(const struct layer *layer);
/* "layer 3 (Conv2d)" before the message; field may be NULL. Always returns -1. */
int layer_fail(const struct layer *layer, const char *field, struct err *err, const char *format,
               ...) GMT_PRINTF(4, 5);
/* Says that the layer is too large to count, naming the field with the largest value. */
int layer_fail_overflow(const struct layer *layer, struct err *err);

#define SIZES_FOR_EACH(i, layer) for (unsigned i = 0; i < (layer)->kind->rank; i++)

/* The columns of layers.def, defined in shape.c, parameters.c and extra.c. */
#define LAYER(name, rank, shape_column, parameters_column, fields, required, saves, inplace,       \
              extra_column, backward_column, traits)                                               \
    int shape_##shape_column(struct layer *, const struct shape *, struct shape *, struct err *);  \
    void parameters_##parameters_column(const struct layer *, enum dtype, struct tensors *);       \
    void extra_##extra_column(const struct layer *, const struct flow *, struct tensors *);        \
    void backward_##backward_column(const struct layer *, const struct flow *, struct tensors *);
#include "layers.def"

#endif
