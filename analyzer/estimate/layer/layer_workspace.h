/* SPDX-License-Identifier: MIT */
/* What convolutions take while they run, in each direction: see common/conv_workspace.h. It must not know other layers. */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_LAYER_LAYER_WORKSPACE_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_LAYER_LAYER_WORKSPACE_H

#include "common/conv_workspace.h"
#include "layer.h"

/* What decides it of a card. */
struct layer_cores {
    int capability_major;
    uint64_t processor_count;
};

/* Bytes; 0 of what is no convolution. A transposed one runs forward as another's backward. */
uint64_t layer_workspace(const struct layer *layer, const struct flow *flow,
                         const struct layer_cores *cores, enum conv_direction direction);

#endif
