/* SPDX-License-Identifier: MIT */
/* The backward of a composed attention; see loop.h. */
#include "loop.h"

/* Makes the next gradient from `gradient`, which is freed. */
static uint32_t next_gradient(struct run *run, uint32_t gradient, uint64_t bytes)
{
    const uint32_t next = storage_new(run, CATEGORY_temporaries, bytes);
    storage_drop(run, gradient);
    return next;
}

/* Returns the number of extra tensors that the layer saves. */
static size_t count_saved(const struct plan_layer *planned)
{
    size_t count = 0;
    for (size_t i = 0; i < planned->extra.count && !planned->is_kept; i++)
        count += planned->extra.items[i].category == CATEGORY_activations;
    return count;
}

/*
 * Each step frees what it read. The backward of the softmax is the highest moment: the softmax's
 * result, the gradient, the new gradient and the product of the first two are live.
 */
uint32_t attention_backward(struct run *run, const struct plan_layer *planned)
{
    const uint64_t own = planned->backward.items[0].bytes;
    const uint64_t softmax = planned->backward.items[1].bytes;
    const size_t before = planned->flow.old_softmax + (planned->layer->fields.capped != 0);
    const size_t result = run->first_saved[planned->layer->index] + before;
    const size_t end = run->first_saved[planned->layer->index] + count_saved(planned);
    uint32_t gradient = storage_new(run, CATEGORY_temporaries, own);
    if (result + 1 < end)
        saved_drop_one(run, result + 1); /* read by the product with the values */
    if (result + 2 < end) {
        gradient = next_gradient(run, gradient, own);
        saved_drop_one(run, result + 2); /* dropout's mask */
    }
    if (softmax > own)
        gradient = next_gradient(run, gradient, softmax);
    uint32_t scores = storage_new(run, CATEGORY_temporaries, softmax);
    storage_drop(run, storage_new(run, CATEGORY_temporaries, softmax));
    storage_drop(run, gradient);
    if (result < end)
        saved_drop_one(run, result);
    if (softmax > own)
        scores = next_gradient(run, scores, own);
    return next_gradient(run, scores, own); /* of the scores before they are scaled */
}
