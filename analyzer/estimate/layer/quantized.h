/* SPDX-License-Identifier: MIT */
/*
 * A weight in fewer bits: the bytes of it and of its scales, and the copy in the model's type that products work on.
 * Sources: the documentation of bitsandbytes (Linear4bit, Linear8bitLt) and the paper of QLoRA (blocks of 64, and of
 * 256 scales). It must not know which layers are quantized.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_LAYER_QUANTIZED_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_LAYER_QUANTIZED_H

#include "layer.h"

/* The layer's own tensors, once its kind has made them. */
void quantized_own(const struct layer *layer, struct tensors *own);
/* Temporaries of both passes. */
void quantized_passes(const struct layer *layer, const struct flow *flow, struct tensors *forward,
                      struct tensors *backward);

#endif
