/* SPDX-License-Identifier: MIT */
/*
 * A model under given settings: the bytes of everything each layer owns, makes and saves, and
 * where autograd's graph runs. It must not know in which order memory comes and goes.
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
    unsigned saves;          /* enum saves; none outside of the graph */
    bool keeps_storage;
    bool is_view;                            /* keeps the storage and changes nothing in it */
    bool in_graph;                           /* backward reaches it */
    bool passes_gradient;                    /* … and goes on to the layer before */
    size_t first_parameter, parameter_count; /* in plan.parameter_bytes */
    uint64_t saved_bytes; /* storages that are kept for backward since this layer; set by the run */
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

/* Values of all results that the rule of thumb's tables count, of the batch. */
uint64_t plan_result_values(const struct plan *plan, struct checked *checked);

#endif
