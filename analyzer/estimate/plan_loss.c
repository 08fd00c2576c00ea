/* SPDX-License-Identifier: MIT */
/*
 * Plans torch.nn.functional.linear_cross_entropy of PyTorch 2.15 with LinearCrossEntropyOptions(),
 * as it was measured in dry runs; see plan_loss.h:
 *
 *     forward    makes and saves the gradients of its input and of the weight, piece by piece
 *     backward   passes these gradients on
 *
 * The number of rows in a piece is the lowest power of 2 that is at least rows / ceil(words /
 * width), so that the scores of a piece are about as large as the input. If the model's type has 16
 * bit, the scores exist twice in that type and once in float32.
 */
#include "plan_loss.h"

#include "analyzer/estimate/layer/layer_formulas.h"

static int fail_none(struct err *err)
{
    return err_set(err, ERR_INPUT,
                   "--logits=chunked needs a loss on the output of a linear layer, in training");
}

static uint64_t piece_rows(uint64_t rows, uint64_t words, uint64_t width)
{
    const uint64_t parts = words / width + (words % width > 0);
    const uint64_t least = rows / parts + (rows % parts > 0);
    uint64_t power = 1;
    while (power < least)
        power *= 2;
    return power < rows ? power : rows;
}

/* Removes all that the layer makes, except for the target of the loss. */
static void make_nothing(struct plan_layer *planned)
{
    struct tensors left = {0};
    for (size_t i = 0; i < planned->extra.count; i++)
        if (planned->extra.items[i].category == CATEGORY_input)
            left.items[left.count++] = planned->extra.items[i];
    planned->extra = left;
    planned->backward = (struct tensors){0};
    planned->saves = SAVES_none;
    planned->output_bytes = planned->gradient_bytes = 0;
}

static void make_gradients(struct plan_layer *head)
{
    const struct flow *flow = &head->flow;
    const uint64_t bytes = dtype_bytes(flow->dtype);
    const uint64_t width = flow->input.dims[flow->input.rank - 1];
    const uint64_t words = flow->output.dims[flow->output.rank - 1];
    const uint64_t rows = flow->input_elements / width;
    struct checked *checked = &head->extra.checked;
    const uint64_t piece = checked_mul(checked, piece_rows(rows, words, width), words);
    const uint64_t weight = checked_add(checked, tensors_elements(&head->own, CATEGORY_parameters),
                                        layer_tied_elements(head->layer));
    tensors_add(&head->extra, CATEGORY_activations, bytes, flow->input_elements, 1);
    if (!head->layer->frozen)
        tensors_add(&head->extra, CATEGORY_activations, bytes, weight, 1);
    tensors_add(&head->extra, CATEGORY_temporaries, bytes, piece, bytes < DTYPE_FP32_BYTES ? 2 : 1);
    if (bytes < DTYPE_FP32_BYTES)
        tensors_add(&head->extra, CATEGORY_temporaries, DTYPE_FP32_BYTES, piece, 1);
}

int plan_chunked_loss(struct plan *plan, struct err *err)
{
    if (plan->settings.logits != LOGITS_chunked)
        return 0;
    const size_t loss = plan->predicted;
    if (loss == plan->layer_count || plan->layers[loss].inputs[0] == MODEL_INPUT)
        return fail_none(err);
    const size_t source = plan->layers[loss].inputs[0];
    struct plan_layer *head = &plan->layers[source];
    if (head->layer->kind->shape != shape_linear || !head->in_graph || head->readers != 1)
        return fail_none(err);
    for (size_t i = source; i < plan->layer_count; i++)
        make_nothing(&plan->layers[i]);
    make_gradients(head);
    head->gives_saved = true;
    return head->extra.checked.overflow ? layer_fail_overflow(head->layer, err) : 0;
}
