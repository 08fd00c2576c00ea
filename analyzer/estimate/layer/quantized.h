/* SPDX-License-Identifier: MIT */
/*
 * Computes the memory of quantized weights: the bytes of a weight and its scales, and the copy in
 * the model's type which a matrix product uses. Sources: the documentation of bitsandbytes
 * (Linear4bit, Linear8bitLt) and the paper of QLoRA (blocks of 64 values, and of 256 scales).
 */
#pragma once

#include "layer.h"

/* Changes the layer's own tensors after layer->kind->parameters has made them. */
void quantized_own(const struct layer *layer, struct tensors *own);
/* Adds the temporaries that forward and backward make because the weight is quantized. */
void quantized_passes(const struct layer *layer, const struct flow *flow, struct tensors *forward,
                      struct tensors *backward);
