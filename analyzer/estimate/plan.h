/* SPDX-License-Identifier: MIT */
/*
 * The memory plan of a model under given settings: the bytes of everything that each
 * layer owns, makes and saves, and which layers autograd's graph reaches. It does not
 * know the order of allocations.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_PLAN_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_PLAN_H

#include "analyzer/estimate/layer/layer.h"
#include "analyzer/estimate/model/model.h"

#define PLAN_PARAMETERS_MOST (1 << 20)

struct plan_layer {
    const struct layer *layer;
    const size_t *inputs; /* the layers it reads, or MODEL_INPUT; layer->input_count of them */
    size_t readers;       /* number of other layers' inputs that are its result */
    size_t unit;          /* of FSDP: number of the repeated block it is in; 0: in none */
    size_t segment;       /* checkpointed segment, whose layers backward runs again; 0: none */
    size_t held_until;    /* last layer of the modules that get its result as argument; 0: none */
    size_t returns;       /* number + 1 of a layer whose held_until is this one; 0: none */
    size_t also;          /* number + 1 of the next layer with the same held_until; 0: none */
    size_t products;      /* products without bias in its segment, up to this layer */
    bool is_once;         /* its result exists once for all samples */
    bool gives_saved;     /* its saved tensors are the gradients that its backward passes on */
    bool is_kept;         /* the first run of its segment keeps its result and saved tensors */
    size_t inner_readers; /* readers that are in the same segment */
    struct flow flow;
    struct tensors own;      /* parameters and buffers */
    struct tensors extra;    /* made by the forward pass besides the result */
    struct tensors casts;    /* autocast's copies of parameters */
    struct tensors backward; /* temporaries of the backward pass */
    /* of a convolution while it runs, by enum conv_direction */
    uint64_t workspace_bytes[CONV_FILTER + 1];
    uint64_t output_bytes, input_bytes; /* of its first input */
    uint64_t gradient_bytes;            /* of the result's gradient */
    unsigned saves;                     /* enum saves; none outside the graph */
    bool keeps_storage;
    bool is_view;                            /* the output is the input's storage, unchanged */
    bool in_graph;                           /* backward reaches it */
    bool passes_gradient;                    /* … and continues to a layer that it reads */
    size_t first_parameter, parameter_count; /* in plan.parameters */
    /* storages that this layer is the first to save; set by the training loop */
    uint64_t saved_bytes;
};

/* One parameter tensor. */
struct plan_parameter {
    uint64_t bytes, elements;                 /* the part that this rank keeps */
    uint64_t updated_bytes, updated_elements; /* the part that this rank's optimizer updates */
    uint64_t gathered_bytes;                  /* of the whole, while its unit of FSDP runs */
    uint64_t gradient_bytes;                  /* as autograd makes it */
    size_t unit;                              /* of FSDP */
    const struct shape *shape;                /* rank 0: unknown */
    bool frozen;                              /* it gets neither gradient nor states */
};

/* A unit of FSDP and the bytes that one rank contributes when ranks exchange it. */
struct plan_unit {
    size_t first_parameter, end; /* its parameters are in this range, maybe with others */
    uint64_t elements;           /* of the whole unit */
    uint64_t kept_bytes;         /* of a flat unit: this rank's part */
    uint64_t gather_bytes;       /* input of the all-gather; its output is gpus times as large */
    uint64_t cast_bytes;         /* the copy in the type that is gathered; 0: no cast is needed */
    uint64_t reduce_bytes; /* gradients in the type that is reduced; none of frozen parameters */
    uint64_t shard_bytes;  /* … and in the type of the weights; 0: it is the same type */
};

struct plan {
    struct settings settings;
    enum dtype dtype;        /* type that the model computes in */
    struct plan_unit *units; /* of FSDP: unit 0, then each repeated block */
    size_t unit_count;
    struct plan_layer *layers;
    size_t layer_count;
    const size_t *registered; /* numbers of layers, in the order in which their tensors are made */
    struct plan_parameter *parameters; /* in registration order */
    size_t parameter_count, parameter_capacity;
    /* bytes of the copy that a layer makes of its input, by model->inputs; 0: no copy */
    uint64_t *copy_bytes;
    uint64_t input_bytes;
    size_t input_readers; /* of the model's input */
    /* first layer of the loss: it or a cast to float32 before it; layer_count: no loss */
    size_t predicted;
};

/* The model must outlive the plan. -1: *err names the layer that is too large. */
int plan_build(struct plan *plan, const struct model *model, const struct settings *settings,
               struct err *err);
void plan_release(struct plan *plan);

/* The number of values, over the whole batch, of the results that the rule of thumb counts. */
uint64_t plan_result_values(const struct plan *plan, struct checked *checked);

#endif
