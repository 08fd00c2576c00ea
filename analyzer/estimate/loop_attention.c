/* SPDX-License-Identifier: MIT */
/* The backward of a composed attention; see loop.h. */
#include "loop.h"

/*
 * Each step frees what it read. The backward of the softmax is the highest moment: the softmax's
 * result, the gradient, the new gradient and the product of the first two are live.
 */
uint32_t attention_backward(struct run *run, const struct plan_layer *planned)
{
    const uint64_t own = planned->backward.items[0].bytes;
    const uint64_t softmax = planned->backward.items[1].bytes;
    const size_t result = planned->flow.old_softmax + (planned->layer->fields.capped != 0);
    uint32_t gradient = storage_new(run, CATEGORY_temporaries, own);
    saved_drop_number(run, planned, result + 1); /* read by the product with the values */
    if (saved_number(planned) > result + 2)
        gradient = storage_next(run, gradient, own);
    saved_drop_number(run, planned, result + 2); /* dropout's mask */
    if (softmax > own)
        gradient = storage_next(run, gradient, softmax);
    uint32_t scores = storage_new(run, CATEGORY_temporaries, softmax);
    storage_drop(run, storage_new(run, CATEGORY_temporaries, softmax));
    storage_drop(run, gradient);
    saved_drop_number(run, planned, result);
    if (softmax > own)
        scores = storage_next(run, scores, own);
    return storage_next(run, scores, own); /* of the scores before they are scaled */
}
