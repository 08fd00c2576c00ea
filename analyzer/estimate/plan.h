/* SPDX-License-Identifier: MIT */
/*
 * The memory plan of a model under given settings: the bytes of everything that each layer owns,
 * makes and saves, and which layers autograd's graph reaches. It must not know the order of
 * allocations.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_PLAN_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_PLAN_H

#include "analyzer/estimate/layer/layer.h"
#include "analyzer/estimate/model/model.h"

#define PLAN_PARAMETERS_MOST (1 << 20)

struct plan_layer {
    const struct layer *layer;
    const size_t *inputs; /* the layers it reads, or MODEL_INPUT; layer->input_count of them */
    size_t readers;       /* how many inputs of other layers its result is */
    size_t unit;          /* of FSDP: which repeated block it is in, 0 for the rest */
    size_t segment;       /* whose layers backward runs once more; 0: of none */
    size_t held_until;    /* the last layer of the modules that it is handed to; 0: of none */
    size_t returns;   /* with this layer such modules end: number + 1 of what one was handed … */
    size_t also;      /* … and of what another one was; 0: no more */
    size_t products;  /* of its segment, with it: products without bias */
    bool is_once;     /* its result is there once for all samples */
    bool gives_saved; /* what it has saved are the gradients that its backward hands on */
    bool is_kept;     /* its result and what it saves are kept from the segment's first run */
    size_t inner_readers; /* those of its readers that are in the same segment */
    struct flow flow;
    struct tensors own;                        /* parameters and buffers */
    struct tensors extra;                      /* made by the forward pass besides the result */
    struct tensors casts;                      /* autocast's copies of parameters */
    struct tensors backward;                   /* temporaries of the backward pass */
    uint64_t workspace_bytes[CONV_FILTER + 1]; /* of a convolution while it runs, by direction */
    uint64_t output_bytes, input_bytes;        /* of its first input */
    uint64_t gradient_bytes;                   /* of the result's gradient */
    unsigned saves;                            /* enum saves; none outside the graph */
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
    uint64_t bytes, elements;                 /* that this rank keeps */
    uint64_t updated_bytes, updated_elements; /* that its optimizer updates */
    uint64_t gathered_bytes;   /* of the whole, as a unit of FSDP has it while it runs */
    uint64_t gradient_bytes;   /* as autograd makes it */
    size_t unit;               /* of FSDP */
    const struct shape *shape; /* rank 0: not told */
    bool frozen;               /* it gets neither gradient nor states */
};

/* What ranks exchange of a unit of FSDP, in whole rows of each parameter: those of one rank. */
struct plan_unit {
    size_t first_parameter, end; /* its parameters are among these */
    uint64_t elements;           /* of the whole */
    uint64_t kept_bytes;         /* of a flat one: this rank's part */
    uint64_t gather_bytes;       /* as it is gathered; the whole is gpus times that */
    uint64_t cast_bytes;         /* of the copy in that type; 0: it has that type */
    uint64_t reduce_bytes;       /* gradients as they are reduced, of what is trained */
    uint64_t shard_bytes;        /* … and in the type of the weights; 0: it is the same */
};

struct plan {
    struct settings settings;
    enum dtype dtype;        /* of what is computed */
    struct plan_unit *units; /* of FSDP: the rest, then each repeated block */
    size_t unit_count;
    struct plan_layer *layers;
    size_t layer_count;
    const size_t *registered; /* numbers of layers, in the order in which their tensors are made */
    struct plan_parameter *parameters; /* in registration order */
    size_t parameter_count, parameter_capacity;
    /* of each of the model's inputs: it is copied for the layer that reads it; 0: not */
    uint64_t *copy_bytes;
    uint64_t input_bytes;
    size_t input_readers; /* of the model's input */
    /* the layer that reads the prediction: a loss at the end, or what made it float32 for that */
    size_t predicted;
};

/* The model must outlive the plan. -1: *err names the layer that is too large. */
int plan_build(struct plan *plan, const struct model *model, const struct settings *settings,
               struct err *err);
void plan_release(struct plan *plan);

/* The number of values, over the batch, in the results that the rule of thumb counts. */
uint64_t plan_result_values(const struct plan *plan, struct checked *checked);

#endif
