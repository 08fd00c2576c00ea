/* SPDX-License-Identifier: MIT */
/*
 * The memory plan of a model under given settings: the bytes of everything that each layer owns,
 * makes and saves, and the layers that autograd's graph reaches. The plan does not know the order
 * of allocations.
 */
#pragma once

#include "analyzer/estimate/layer/layer.h"
#include "analyzer/estimate/model/model.h"

#define PLAN_PARAMETERS_MOST (1 << 20)

struct plan_layer {
    const struct layer *layer;
    const size_t *inputs; /* layer->input_count numbers of layers that it reads, or MODEL_INPUT */
    size_t readers;       /* number of inputs of other layers that are this layer's result */
    size_t unit;          /* of FSDP: number of its repeated block; 0: it is in none */
    size_t segment;       /* checkpointed segment, whose layers backward runs again; 0: none */
    size_t held_until;    /* last layer of the modules that hold its result; 0: none */
    size_t returns;       /* number + 1 of a layer whose held_until is this one; 0: none */
    size_t also;          /* number + 1 of the next layer with the same held_until; 0: none */
    size_t products;      /* products without bias in its segment, up to this layer */
    bool is_once;         /* the result exists once for all samples */
    bool gives_saved;     /* the saved tensors are the gradients that its backward passes on */
    bool is_kept;         /* its segment's first run keeps its result and saved tensors */
    size_t inner_readers; /* readers that are in the same segment */
    struct flow flow;
    struct tensors own;      /* parameters and buffers */
    struct tensors extra;    /* tensors of the forward pass besides the result */
    struct tensors casts;    /* autocast's copies of parameters */
    struct tensors backward; /* temporaries of the backward pass */
    /* for each enum conv_direction: the workspace while the layer runs */
    uint64_t workspace_bytes[CONV_FILTER + 1];
    uint64_t output_bytes, input_bytes; /* input_bytes: of the first input */
    uint64_t gradient_bytes;            /* of the result's gradient */
    unsigned saves;                     /* bits of enum saves; 0 outside autograd's graph */
    bool keeps_storage;
    bool is_view;                            /* the output is the input's storage, unchanged */
    bool in_graph;                           /* backward reaches it */
    bool passes_gradient;                    /* backward continues to a layer that this one reads */
    size_t first_parameter, parameter_count; /* in plan.parameters */
    /* bytes of the storages that this layer saves first; set by the training loop */
    uint64_t saved_bytes;
};

/* One parameter tensor. */
struct plan_parameter {
    uint64_t bytes, elements;                 /* the part that this rank keeps */
    uint64_t updated_bytes, updated_elements; /* the part that this rank's optimizer updates */
    uint64_t gathered_bytes;                  /* of the whole parameter, while its unit runs */
    uint64_t gradient_bytes;                  /* of the gradient that autograd makes */
    size_t unit;                              /* of FSDP */
    const struct shape *shape;                /* rank 0: unknown */
    bool frozen;                              /* it gets neither gradient nor states */
};

/* A unit of FSDP, and the bytes that one rank contributes when the ranks exchange the unit. */
struct plan_unit {
    size_t first_parameter, end; /* range of its parameters; may have others in between */
    uint64_t elements;           /* of the whole unit */
    uint64_t kept_bytes;         /* if the unit is flat: this rank's part of it */
    uint64_t gather_bytes;       /* all-gather's input; its output is `gpus` times as large */
    uint64_t cast_bytes;         /* the copy in the type that is gathered; 0: no cast is needed */
    uint64_t reduce_bytes;       /* gradients in the reduced type, without frozen parameters */
    uint64_t shard_bytes; /* the same gradients in the weights' type; 0: the types are equal */
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
    /* for each of model->inputs: bytes of the copy that the layer makes of it; 0: no copy */
    uint64_t *copy_bytes;
    uint64_t input_bytes;
    size_t input_readers; /* number of layers' inputs that are the model's input */
    /* number of the loss, or of a cast to float32 before the loss; layer_count: there is no loss */
    size_t predicted;
};

/* The model must outlive the plan. -1: *err names the layer that is too large. */
int plan_build(struct plan *plan, const struct model *model, const struct settings *settings,
               struct err *err);
void plan_release(struct plan *plan);

/* Returns whether backward needs tensors that the layer's forward saves. */
bool plan_layer_saves(const struct plan_layer *planned);
/* Returns the number of values, for the whole batch, in the results that the rule of thumb
 * counts. */
uint64_t plan_result_values(const struct plan *plan, struct checked *checked);
