/* SPDX-License-Identifier: MIT */
/*
 * One layer of a model: the fields that a file may give it (fields.def), and what its kind
 * (layers.def) knows: the shape it makes, its tensors, what autograd saves of it. It must not know
 * files, optimizers or the order of allocations.
 *
 * Shapes are those of one sample; only struct flow knows the batch.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_LAYER_LAYER_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_LAYER_LAYER_H

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

#define LAYER_NAME_BYTES 128

/* As bitsandbytes has them: 4 bit in blocks, those with their scales quantized again, 8 bit in rows. */
enum quantization { QUANTIZATION_none, QUANTIZATION_nf4, QUANTIZATION_nf4_dq, QUANTIZATION_int8 };

/* One of its own tensors as files of weights have it. */
struct layer_stored {
    uint64_t bytes;
    bool known;   /* else it is as the model's type says */
    bool is_open; /* of a type that models run in, so it becomes another that is asked for */
};

struct layer {
    const struct layer_kind *kind;
    size_t index;                      /* place in the model, from 0 */
    size_t first_input, input_count;   /* what it reads, in the model's list */
    size_t block;                      /* which run of an outermost repeated block; 0: of none */
    uint64_t turn;                     /* … and how often that had run before */
    const struct shape *const *inputs; /* of one sample; once the model is resolved */
    char name[LAYER_NAME_BYTES];    /* where it is in the model, as "encoder.layer.0.attention" */
    uint64_t given;                 /* bits of the enum layer_field that the file has */
    enum quantization quantization; /* of its weight */
    bool frozen;                    /* its parameters are not trained */
    const struct layer_stored *stored; /* of its own tensors; NULL: there are no files */
    struct layer_fields fields;
    struct shape input,
        output; /* of one sample; known once the model is resolved; its first input */
};

/* What runs through a layer. */
struct flow {
    struct shape input, output; /* of one sample */
    uint64_t batch;
    enum dtype dtype;       /* of the result */
    enum dtype input_dtype; /* of its first input */
    bool autocast;
    bool training;
    bool writes; /* one more token, as generate() of transformers does */
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
    TRAIT_many = 1 << 7,   /* reads several inputs */
    TRAIT_hands =
        1 << 8, /* backward hands the result's gradient on to the inputs, if of their size */
    TRAIT_slices = 1 << 9, /* … and else a part of it, which is a view */
    TRAIT_once = 1 << 10,  /* the result is the same for all samples, and there once */
    TRAIT_float = 1 << 11, /* the result is of float32; a view where the input is */
    TRAIT_aside = 1 << 12, /* owns a tensor and reads nothing: data does not run through it */
    TRAIT_copies =
        1
        << 13, /* works on a float32 copy where the input is shorter, so does not save the input */
    TRAIT_part = 1 << 14,     /* a view of a part; gradients of parts become one of the whole */
    TRAIT_cache = 1 << 15,    /* a copy that the caller keeps until the step's end */
    TRAIT_regroups = 1 << 16, /* composed, it works on copies of inputs that lie otherwise */
    TRAIT_low = 1 << 17,      /* autocast runs it in its short type … */
    TRAIT_high = 1 << 18,     /* … or in float32 */
    TRAIT_meets = 1 << 19, /* meets weights or tables of the model's type, so is at least as wide */
};

struct layer_kind {
    const char *name;
    unsigned rank; /* dimensions of windows; 0: none */
    uint64_t fields, required;
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
/* Of the weight that it shares with another layer; 0: it shares none. */
uint64_t layer_tied_elements(const struct layer *layer);
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
