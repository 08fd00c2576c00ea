/* SPDX-License-Identifier: MIT */
/*
 * Computes the memory of quantized weights: the bytes of a weight and its scales, and the copies
 * that a matrix product makes. Sources: the documentation of bitsandbytes (Linear4bit,
 * Linear8bitLt), the paper of QLoRA (blocks of 64 values, and of 256 scales), and dry runs.
 */
#pragma once

#include "layer.h"

/* Changes the layer's own tensors after layer->kind->parameters has made them. */
void quantized_own(const struct layer *layer, struct tensors *own);
/* Returns the bytes of the weight's copy that is on the device while it is quantized: 8 bit from
 * float16, 4 bit from the model's type. 0: the layer is not quantized. */
uint64_t quantized_copy_bytes(const struct layer *layer, const struct tensors *own,
                              enum dtype dtype);
/* Adds the temporaries that forward and backward make because the weight is quantized. */
void quantized_passes(const struct layer *layer, const struct flow *flow, struct tensors *forward,
                      struct tensors *backward);
