/* SPDX-License-Identifier: MIT */
/* The backward pass; see loop.h. */
#include "loop.h"

/*
 * Adds the gradient that a weight got in another layer, if the weight is tied. The sum is a new
 * tensor, because the head's gradient is a view of its transpose. Under autocast that gradient is a
 * copy of its own, to which autograd adds in place.
 */
static void sum_tied(struct run *run, uint64_t bytes)
{
    const bool in_place = dtype_bytes(run->plan->settings.amp) < DTYPE_FP32_BYTES;
    for (size_t i = 0; i < run->tied_count && !in_place; i++)
        if (run->storages[run->tied[i]].bytes == bytes)
            storage_drop(run, storage_new(run, CATEGORY_temporaries, bytes));
}

/*
 * Makes the gradient of a parameter. A new gradient is temporary if it is added to the
 * gradient of an earlier batch, or if gradients are views of a bucket and it is copied there.
 */
static void make_gradient(struct run *run, size_t parameter)
{
    const bool is_viewed =
        parallel_kind(run->plan->settings.parallel)->gradients == GRADIENTS_viewed;
    const uint64_t bytes = run->plan->parameters[parameter].gradient_bytes;
    uint32_t made = NONE;
    if (run->plan->parameters[parameter].frozen)
        return;
    if (has_replicas(run))
        replicas_gradient(run, parameter);
    else if (zero_gradient(run, parameter))
        return;
    else if (run->gradients[parameter] == SCHEDULE_NO_BLOCK && !is_viewed)
        run->gradients[parameter] = schedule_alloc(run->schedule, CATEGORY_gradients, bytes);
    else
        made = storage_new(run, CATEGORY_temporaries, bytes);
    sum_tied(run, bytes);
    storage_drop(run, made);
}

/* Makes the gradients of the layer's parameters from number `first` to `end`, without `end`. */
static void make_gradients(struct run *run, const struct plan_layer *planned, size_t first,
                           size_t end)
{
    for (size_t i = first; i < end; i++)
        make_gradient(run, planned->first_parameter + i);
}

/* Adds a gradient to the layer's sum of gradients. Autograd adds in place if the sum has no other
 * holder. If the sum has another holder, autograd makes a new tensor. */
static void gradient_arrive(struct run *run, size_t layer, uint32_t gradient)
{
    uint32_t *sum = &run->flowing[layer];
    if (*sum == NONE) {
        *sum = gradient;
        return;
    }
    if (run->storages[*sum].holders > 1) {
        uint32_t both =
            storage_new(run, CATEGORY_temporaries, run->plan->layers[layer].gradient_bytes);
        storage_drop(run, *sum);
        *sum = both;
    }
    storage_drop(run, gradient);
}

/* Returns the gradient of an input. If the layer passes the result's gradient on, returns that; if
 * it does not, makes a new gradient. */
static uint32_t gradient_of(struct run *run, const struct plan_layer *planned, size_t source,
                            uint32_t gradient)
{
    const unsigned traits = planned->layer->kind->traits;
    /*
     * A loss that the loop computes reads the results of all replicas. Therefore its input's
     * gradient has `parts` times the bytes of one replica's gradient.
     */
    const uint64_t batch = run->plan->settings.batch;
    const uint64_t parts = planned->flow.batch > batch ? planned->flow.batch / batch : 1;
    const uint64_t bytes = run->plan->layers[source].gradient_bytes * parts;
    if ((traits & TRAIT_part) && run->flowing[source] != NONE)
        return NONE; /* another layer that reads a part of the source has made its gradient */
    const bool hands_on =
        (traits & TRAIT_slices) ||
        ((planned->is_view || (traits & TRAIT_hands)) && bytes == planned->gradient_bytes);
    if (!hands_on)
        return storage_new(run, CATEGORY_temporaries, bytes);
    storage_hold(run, gradient);
    return gradient;
}

/* Makes the gradients of the inputs from `first` to `end`, without `end`. */
static void make_input_gradients(struct run *run, const struct plan_layer *planned,
                                 uint32_t gradient, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        const size_t source = planned->inputs[i];
        const bool wanted = source != MODEL_INPUT && run->plan->layers[source].in_graph;
        run->arriving[i] = wanted ? gradient_of(run, planned, source, gradient) : NONE;
    }
}

/* Passes the gradients of the inputs to the layers that made the inputs. Called when the layer's
 * own backward is over. */
static void pass_gradients(struct run *run, const struct plan_layer *planned)
{
    for (size_t i = 0; i < planned->layer->input_count; i++)
        if (run->arriving[i] != NONE)
            gradient_arrive(run, planned->inputs[i], run->arriving[i]);
}

/* Makes the gradient of a tied weight. The weight gets another gradient in its own layer, and
 * autograd adds the two. */
static void make_tied_gradient(struct run *run, const struct plan_layer *planned)
{
    const uint64_t elements = layer_tied_elements(planned->layer);
    if (elements > 0 && !planned->layer->frozen)
        run->tied[run->tied_count++] =
            storage_new(run, CATEGORY_gradients, elements * dtype_bytes(run->plan->dtype));
}

/* Makes the temporaries from number `first` on. */
static size_t make_temporaries(struct run *run, const struct plan_layer *planned, size_t first,
                               uint32_t made[TENSORS_MAX])
{
    const size_t count = planned->is_view ? 0 : planned->backward.count;
    for (size_t i = first; i < count; i++)
        made[i] = storage_new(run, CATEGORY_temporaries,
                              planned->backward.items[i].bytes * planned->backward.items[i].count);
    return count;
}

/*
 * Runs the backward of experts, in which each operation frees what it read. The order of the saved
 * tensors is that of extra_experts. The highest moment is the backward of the product of activation
 * and up, unless the experts are few and their weights large. Returns the gradient of the rows.
 */
static uint32_t experts_backward(struct run *run, const struct plan_layer *planned)
{
    const uint64_t both = planned->backward.items[0].bytes, rows = planned->backward.items[1].bytes;
    const size_t trained = planned->layer->frozen ? 0 : 1, down = planned->parameter_count / 2;
    const uint32_t summed = storage_new(run, CATEGORY_temporaries, rows);
    storage_drop(run, storage_new(run, CATEGORY_temporaries, rows)); /* of the scores */
    uint32_t gradient = storage_new(run, CATEGORY_temporaries, rows);
    storage_drop(run, summed);
    saved_drop_number(run, planned, 2 + 2 * trained); /* the result */
    make_gradients(run, planned, down, planned->parameter_count);
    gradient = storage_next(run, gradient, both / 2);
    if (trained)
        saved_drop_number(run, planned, 3); /* the product */
    const uint32_t up = storage_new(run, CATEGORY_temporaries, both / 2);
    gradient = storage_next(run, gradient, both / 2); /* of the activation */
    saved_drop_number(run, planned, 1 + trained);
    gradient = storage_next(run, gradient, both / 2); /* of gate */
    saved_drop_number(run, planned, trained);
    const uint32_t joined = storage_new(run, CATEGORY_temporaries, both);
    storage_drop(run, gradient);
    storage_drop(run, up);
    make_gradients(run, planned, 0, down);
    return storage_next(run, joined, rows);
}

/* Runs one layer's backward. `gradient` is that of the layer's result; the caller's hold on it is
 * taken over. */
static void backward_layer(struct run *run, struct plan_layer *planned, uint32_t gradient)
{
    const size_t inputs = planned->layer->input_count;
    const bool in_turn =
        (planned->layer->kind->traits & TRAIT_regroups) && planned->layer->fields.eager;
    const bool is_experts = planned->layer->kind->traits & TRAIT_experts;
    uint32_t made[TENSORS_MAX], last = NONE; /* last: a gradient of scores or of experts' rows */
    if (planned->gives_saved)
        saved_drop(run, planned);
    /* first the gradient of the values, next that of the scores, last those of queries and keys */
    if (in_turn) {
        make_input_gradients(run, planned, gradient, inputs - 1, inputs);
        last = attention_backward(run, planned);
    } else if (is_experts) {
        last = experts_backward(run, planned);
    }
    const size_t first = last != NONE ? 2 : 0;
    size_t count = make_temporaries(run, planned, first, made);
    if (!in_turn)
        make_input_gradients(run, planned, gradient, 0, inputs);
    if (inputs && run->arriving[0] != NONE)
        storage_drop(run, workspace_new(run, planned, CONV_DATA));
    const uint32_t workspace =
        planned->layer->frozen ? NONE : workspace_new(run, planned, CONV_FILTER);
    if (!is_experts)
        make_gradients(run, planned, 0, planned->parameter_count);
    make_tied_gradient(run, planned);
    storage_drop(run, workspace);
    while (count > first)
        storage_drop(run, made[--count]);
    if (in_turn)
        make_input_gradients(run, planned, gradient, 0, inputs - 1);
    saved_drop(run, planned);
    storage_drop(run, last);
    storage_drop(run, gradient);
    pass_gradients(run, planned);
}

/*
 * If backward reaches another segment, ends the previous one. PyTorch runs a segment again when
 * backward first needs a saved tensor of the segment.
 */
static int enter_segment(struct run *run, size_t layer, size_t *open)
{
    const size_t segment = run->plan->layers[layer].segment;
    if (segment != *open) {
        if (*open)
            kept_drop(run, *open);
        *open = segment;
        run->is_run_again = false;
    }
    if (!segment || run->is_run_again || !plan_layer_saves(&run->plan->layers[layer]))
        return 0;
    run->is_run_again = true;
    return run_again(run, layer);
}

static void backward_end(struct run *run, size_t open)
{
    if (open)
        kept_drop(run, open);
    while (run->tied_count > 0)
        storage_drop(run, run->tied[--run->tied_count]);
    ranks_backward_end(run);
    replicas_backward_end(run);
    zero_backward_end(run);
}

int run_backward(struct run *run)
{
    size_t last = run->plan->layer_count - 1, open = 0;
    if (!run->plan->layers[last].in_graph) {
        saved_drop(run, &run->plan->layers[0]);
        return 0;
    }
    for (size_t i = 0; i <= last; i++)
        run->flowing[i] = NONE;
    schedule_at(run->schedule, SCHEDULE_backward, (int32_t)last);
    run->flowing[last] =
        storage_new(run, CATEGORY_temporaries, run->plan->layers[last].gradient_bytes);
    for (size_t i = last + 1; i > 0; i--) {
        struct plan_layer *planned = &run->plan->layers[i - 1];
        ranks_backward(run, i - 1);
        if (enter_segment(run, i - 1, &open))
            return -1;
        if (run->flowing[i - 1] == NONE) {
            saved_drop(run, planned); /* no gradient reaches this layer */
            continue;
        }
        schedule_at(run->schedule, SCHEDULE_backward, (int32_t)(i - 1));
        backward_layer(run, planned, run->flowing[i - 1]);
    }
    backward_end(run, open);
    return 0;
}
