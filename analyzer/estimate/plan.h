/* SPDX-License-Identifier: MIT */
/*
 * The memory plan of a model under given settings: the bytes of everything that each layer owns,
 * makes and saves, and which layers autograd's graph reaches. It must not know the order of
 * allocations.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_PLAN_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_PLAN_H

#include "layer.h"
#include "model.h"

#define PLAN_PARAMETERS_MOST (1 << 20)

struct plan_layer {
    const struct layer *layer;
    struct flow flow;
    struct tensors own;      /* parameters and buffers */
    struct tensors extra;    /* made by the forward pass besides the result */
    struct tensors backward; /* temporaries of the backward pass */
    uint64_t output_bytes, input_bytes;
    uint64_t gradient_bytes; /* of the result's gradient */
    unsigned saves;          /* enum saves; none outside the graph */
    bool keeps_storage;
    bool is_view;                            /* the output is the input's storage, unchanged */
    bool in_graph;                           /* backward reaches it */
    bool passes_gradient;                    /* … and continues to the layer before */
    size_t first_parameter, parameter_count; /* in plan.parameter_bytes */
    uint64_t
        saved_bytes; /* storages that this layer is the first to save; set by the training loop */
};

struct plan {
    struct settings settings;
    struct plan_layer *layers;
    size_t layer_count;
    uint64_t *parameter_bytes; /* of each parameter tensor, in registration order */
    size_t parameter_count, parameter_capacity;
    uint64_t input_bytes;
};

/* The model must outlive the plan. -1: *err names the layer that is too large. */
int plan_build(struct plan *plan, const struct model *model, const struct settings *settings,
               struct err *err);
void plan_release(struct plan *plan);

/* The number of values, over the batch, in the results that the rule of thumb counts. */
uint64_t plan_result_values(const struct plan *plan, struct checked *checked);

#endif
