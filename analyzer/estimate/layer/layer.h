/* SPDX-License-Identifier: MIT */
/*
 * One layer of a model. A model file may set the layer's fields (fields.def). The layer's kind
 * (layers.def) computes the shape of its result, its tensors, and the tensors that autograd saves.
 *
 * Shapes are those of one sample. Only struct flow knows the batch.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtype.h"
#include "gpumemtrace/err.h"
#include "shape.h"
#include "tensors.h"

#define SPATIAL_MAX 3
#define FIELD_MOST (UINT64_C(1) << 40) /* the largest integer in a model file */
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

#define LAYER_NAME_BYTES 128

/* Formats of bitsandbytes: 4 bit in blocks, 4 bit in blocks with quantized scales, and 8 bit in
 * rows. */
enum quantization { QUANTIZATION_none, QUANTIZATION_nf4, QUANTIZATION_nf4_dq, QUANTIZATION_int8 };

/* A layer's own tensor in the weight files. */
struct layer_stored {
    uint64_t bytes;
    bool known;   /* false: the tensor's bytes follow from the model's type */
    bool is_open; /* models can run in the tensor's type, so it can be converted to another */
};

struct layer {
    const struct layer_kind *kind;
    size_t index;                    /* place in the model, from 0 */
    size_t first_input, input_count; /* its inputs, in model->inputs */
    /* number, from 1, of the repetition of the outermost repeated block that the layer is in,
     * counted over all such blocks; 0: in none */
    size_t block;
    uint64_t turn;                     /* number of that repetition within its block, from 0 */
    const struct shape *const *inputs; /* of one sample; set by model_resolve */
    char name[LAYER_NAME_BYTES];       /* path in the model, as "encoder.layer.0.attention" */
    uint64_t given;                    /* fields that the file sets, as bits of enum layer_field */
    enum quantization quantization;    /* of its weight */
    bool frozen;                       /* its parameters are not trained */
    /* a variable of its module holds its result until this layer; 0: none does */
    size_t held_until;
    bool is_plain;   /* passes its input on under autocast */
    bool is_float32; /* of an adapter that is float32, even if the model is of a shorter type */
    /* its own tensors in weight files; NULL: there are no files */
    const struct layer_stored *stored;
    struct layer_fields fields;
    struct shape input, output; /* of one sample; `input` is the first one; set by model_resolve */
};

/* The data that runs through a layer. */
struct flow {
    struct shape input, output; /* of one sample */
    uint64_t batch;
    enum dtype dtype;       /* of the result */
    enum dtype input_dtype; /* of its first input */
    bool autocast;
    bool training;
    bool old_softmax; /* PyTorch before 1.11: softmax also saves its input */
    bool writes;      /* the model writes one more token, as in generate() of transformers */
    uint64_t input_elements, output_elements; /* of the batch */
};

/* Bits that say which tensors of a layer autograd saves, besides the layer's extra tensors. */
enum saves {
    SAVES_none = 0,
    SAVES_input = 1 << 0,
    SAVES_result = 1 << 1,
    SAVES_both = SAVES_input | SAVES_result,
    SAVES_clone = 1 << 2, /* a copy of the input, which some in-place forms need */
};

enum layer_trait {
    TRAIT_values = 1 << 0, /* the rule of thumb counts its results */
    TRAIT_resize = 1 << 1, /* the rule of thumb counts its results only if the shape changes */
    TRAIT_view = 1 << 2,   /* the output is the input's storage */
    TRAIT_ids = 1 << 3,    /* reads integer ids, passes no gradient back */
    TRAIT_loss = 1 << 4,   /* ends the model with one number */
    TRAIT_wide = 1 << 5,   /* a loss whose number is in a storage of the input's size */
    TRAIT_train = 1 << 6,  /* does something in training only (dropout) */
    TRAIT_many = 1 << 7,   /* reads several inputs */
    /* the gradient of an input of the same size is the gradient of the result */
    TRAIT_hands = 1 << 8,
    TRAIT_slices = 1 << 9, /* an input's gradient is a view of a part of the result's gradient */
    TRAIT_once = 1 << 10,  /* the result exists once for all samples */
    TRAIT_float = 1 << 11, /* the result is float32; it is a view if the input is float32 */
    TRAIT_aside = 1 << 12, /* owns a tensor and has no input: no data runs through it */
    /* works on a float32 copy of an input of a shorter type, so it does not save the input */
    TRAIT_copies = 1 << 13,
    TRAIT_part = 1 << 14,  /* a view of a part; all parts have one gradient together */
    TRAIT_cache = 1 << 15, /* a copy that the caller keeps until the end of the step */
    /* if composed of operations, works on copies of inputs that have another layout */
    TRAIT_regroups = 1 << 16,
    TRAIT_low = 1 << 17,  /* autocast runs it in the 16-bit type */
    TRAIT_high = 1 << 18, /* autocast runs it in float32 */
    /* multiplies with weights or tables of the model's type, so the result is at least as wide */
    TRAIT_meets = 1 << 19,
    /* the result has the type of the model's products; it is a view if the input has this type */
    TRAIT_product = 1 << 20,
    TRAIT_experts = 1 << 21, /* its grouped products free in backward in turn what they have read */
};

struct layer_kind {
    const char *name;
    unsigned rank; /* dimensions of its windows; 0: it has none */
    uint64_t fields, required;
    unsigned saves, saves_inplace;
    unsigned traits;
    /* Checks the fields against the input, infers those that are missing, and fills the output. */
    int (*shape)(struct layer *layer, const struct shape *input, struct shape *output,
                 struct err *err);
    /* Adds parameters and buffers, both in the order in which PyTorch registers them. */
    void (*parameters)(const struct layer *layer, enum dtype dtype, struct tensors *tensors);
    /*
     * Adds the tensors that the forward pass makes besides the result. Activations are saved for
     * backward. Temporaries are freed when the layer ends. A tensor of the category input is the
     * target of a loss, which comes with the batch.
     */
    void (*extra)(const struct layer *layer, const struct flow *flow, struct tensors *tensors);
    /* Adds the temporaries of the backward pass besides the gradient of the input. */
    void (*backward)(const struct layer *layer, const struct flow *flow, struct tensors *tensors);
};

/* Makes a layer of that kind whose fields have their standard values. */
void layer_init(struct layer *layer, const struct layer_kind *kind, size_t index);
/* Returns the number of elements of the weight that the layer shares with another layer; 0: it
 * shares none. */
uint64_t layer_tied_elements(const struct layer *layer);
bool layer_is_softmax(const struct layer *layer); /* or LogSoftmax */
bool layer_gives(const struct layer *layer, enum layer_field field);
/*
 * Returns whether the output is the input's storage. This is so for a view, an in-place form, and a
 * layer that does nothing.
 */
bool layer_keeps_storage(const struct layer *layer, bool training);
/* Sets ERR_INPUT with the message after "layer 3 (Conv2d), field …: ". `field` may be NULL. Returns
 * -1. */
int layer_fail(const struct layer *layer, const char *field, struct err *err, const char *format,
               ...) GMT_PRINTF(4, 5);
/* Fails with a message that the layer is too large to count, and names its field with the largest
 * value. */
int layer_fail_overflow(const struct layer *layer, struct err *err);

#define SIZES_FOR_EACH(i, layer) for (unsigned i = 0; i < (layer)->kind->rank; i++)
