/* SPDX-License-Identifier: MIT */
/* See quantized.h. */
#include "quantized.h"

enum { BLOCK = 64, SCALES_BLOCK = 256, CODES_4 = 16, CODES_8 = 256 };
enum { COMPUTED_BYTES = 2 }; /* 4-bit products compute in a 16-bit type */

static uint64_t ceiling(uint64_t count, uint64_t of)
{
    return count / of + (count % of > 0);
}

static void add_scales(struct tensors *own, uint64_t bytes, uint64_t count)
{
    tensors_add(own, CATEGORY_buffers, bytes, count, 1);
    own->items[own->count - 1].name = "weight.scales";
}

static void add_blocks(struct tensors *own, uint64_t values, bool is_double)
{
    const uint64_t blocks = ceiling(values, BLOCK);
    add_scales(own, is_double ? 1 : DTYPE_FP32_BYTES, blocks);
    add_scales(own, DTYPE_FP32_BYTES, CODES_4);
    if (!is_double)
        return;
    add_scales(own, DTYPE_FP32_BYTES, ceiling(blocks, SCALES_BLOCK));
    add_scales(own, DTYPE_FP32_BYTES, CODES_8);
    add_scales(own, DTYPE_FP32_BYTES, 1); /* the offset of all scales */
}

void quantized_own(const struct layer *layer, struct tensors *own)
{
    if (layer->quantization == QUANTIZATION_none || own->count == 0)
        return;
    struct tensor *weight = &own->items[0];
    weight->values = weight->elements;
    weight->bytes = weight->elements;
    if (layer->quantization == QUANTIZATION_int8) {
        add_scales(own, DTYPE_FP32_BYTES, layer->fields.out);
        return;
    }
    weight->bytes = weight->elements = ceiling(weight->values, 2);
    add_blocks(own, weight->values, layer->quantization == QUANTIZATION_nf4_dq);
}

uint64_t quantized_copy_bytes(const struct layer *layer, const struct tensors *own,
                              enum dtype dtype)
{
    if (layer->quantization == QUANTIZATION_none || own->count == 0)
        return 0;
    return own->items[0].values *
           (layer->quantization == QUANTIZATION_int8 ? COMPUTED_BYTES : dtype_bytes(dtype));
}

static void add_temporary(struct tensors *tensors, uint64_t bytes, uint64_t count)
{
    tensors_add(tensors, CATEGORY_temporaries, bytes, count, 1);
}

/* The input and the result of a 4-bit product, in the type that the product computes in. */
static void add_computed(struct tensors *tensors, const struct flow *flow)
{
    if (dtype_bytes(flow->dtype) <= COMPUTED_BYTES)
        return;
    add_temporary(tensors, COMPUTED_BYTES, flow->input_elements);
    add_temporary(tensors, COMPUTED_BYTES, flow->output_elements);
}

/*
 * A weight in 4 bit is copied as a whole in the type that the product computes in, except if the
 * input is a single row. With a weight in 8 bit, the input is copied in 8 bit, and the products are
 * in 32 bit.
 */
void quantized_passes(const struct layer *layer, const struct flow *flow, struct tensors *forward,
                      struct tensors *backward)
{
    if (layer->quantization == QUANTIZATION_none)
        return;
    const uint64_t values = checked_mul(&forward->checked, layer->fields.in, layer->fields.out);
    const bool is_row = !flow->training && flow->input_elements == layer->fields.in;
    if (layer->quantization == QUANTIZATION_int8) {
        add_temporary(forward, 1, flow->input_elements);
        add_temporary(forward, DTYPE_FP32_BYTES, flow->output_elements);
        add_temporary(backward, dtype_bytes(flow->dtype), values);
    } else {
        add_computed(forward, flow);
        add_temporary(forward, COMPUTED_BYTES, is_row ? 0 : values);
        add_computed(backward, flow);
        add_temporary(backward, COMPUTED_BYTES, values);
    }
}
