/* SPDX-License-Identifier: MIT */
/* The forward pass; see loop.h. */
#include "loop.h"

/* Returns whether the layer saves tensors now. The first run of a checkpointed segment saves
 * none. */
static bool saves(const struct run *run, const struct plan_layer *planned)
{
    return planned->in_graph && (planned->segment == 0 || run->again);
}

/* Returns whether a second run has saved everything again. From that point on, tensors that nothing
 * saves are not made. */
static bool is_spared(const struct run *run, const struct plan_layer *planned)
{
    return run->again && planned->layer->index >= run->stop;
}

/* Makes the extra tensors and fills `made`. The caller drops its holds on them later. Autograd's
 * graph may hold some of them longer. */
static unsigned make_extra(struct run *run, struct plan_layer *planned,
                           uint32_t made[TENSORS_MAX * 2])
{
    unsigned count = 0;
    for (size_t i = 0; i < planned->extra.count && !(run->again && planned->is_kept); i++) {
        const struct tensor *tensor = &planned->extra.items[i];
        for (uint64_t copy = 0; copy < tensor->count && count < TENSORS_MAX * 2; copy++) {
            if (tensor->category == CATEGORY_input ||
                (is_spared(run, planned) && tensor->category == CATEGORY_temporaries))
                continue;
            uint32_t storage = storage_new(run, tensor->category, tensor->bytes);
            if (saves(run, planned) && tensor->category == CATEGORY_activations)
                storage_save(run, planned, storage);
            if (planned->is_kept && tensor->category == CATEGORY_activations)
                storage_keep(run, storage);
            if (i > 0 && tensor[-1].brief && count > 0) {
                storage_drop(run, made[count - 1]);
                made[count - 1] = NONE;
            }
            made[count++] = storage;
        }
    }
    return count;
}

static int check_inplace(struct run *run, const struct plan_layer *planned, uint32_t input)
{
    if (planned->is_view || !planned->keeps_storage || input == NONE ||
        run->storages[input].saved == 0)
        return 0;
    return layer_fail(planned->layer, "inplace", run->err,
                      "overwrites what an earlier layer keeps for backward");
}

static uint32_t input_of(const struct run *run, const struct plan_layer *planned, size_t number)
{
    const size_t source = planned->inputs[number];
    return source == MODEL_INPUT ? run->input : run->results[source];
}

static bool is_outside(const struct run *run, const struct plan_layer *planned, size_t source)
{
    return planned->segment &&
           (source == MODEL_INPUT || run->plan->layers[source].segment != planned->segment);
}

/*
 * Drops each input that has no reader after this layer. Inputs that come from outside a segment are
 * held for the segment's second run, which does not count as a reader.
 */
static void inputs_drop(struct run *run, const struct plan_layer *planned)
{
    for (size_t i = 0; i < planned->layer->input_count; i++) {
        const size_t source = planned->inputs[i];
        const bool outside = is_outside(run, planned, source);
        if (outside && !run->again)
            storage_keep(run, input_of(run, planned, i));
        if (source != MODEL_INPUT && !(outside && run->again) && --run->unread[source] == 0)
            storage_drop(run, run->results[source]);
    }
    for (size_t source = planned->returns; source; source = run->plan->layers[source - 1].also)
        if (!(run->again && is_outside(run, planned, source - 1)) && --run->unread[source - 1] == 0)
            storage_drop(run, run->results[source - 1]);
}

/* Fills `taken` with each input, or with the layer's copy of the input. The caller drops its holds
 * on these later. */
static void take_inputs(struct run *run, const struct plan_layer *planned,
                        uint32_t taken[MODEL_INPUTS_MOST])
{
    for (size_t i = 0; i < planned->layer->input_count; i++) {
        const uint64_t bytes = run->plan->copy_bytes[planned->layer->first_input + i];
        taken[i] =
            bytes ? storage_new(run, CATEGORY_activations, bytes) : input_of(run, planned, i);
        if (bytes == 0)
            storage_hold(run, taken[i]);
    }
}

/*
 * Makes autocast's copies of the layer's weights. A matrix product saves the copy of its weight,
 * because the gradient of the input needs that copy. It does not save the copy of its bias.
 */
static void cast_weights(struct run *run, struct plan_layer *planned)
{
    for (size_t i = 0; i < planned->casts.count; i++) {
        const struct tensor *tensor = &planned->casts.items[i];
        for (uint64_t copy = 0; copy < tensor->count; copy++) {
            const uint32_t cast = storage_new(run, tensor->category, tensor->bytes);
            if (!planned->layer->frozen) /* autocast caches copies of trained weights only */
                cast_hold(run, cast);
            if (tensor->shape.rank != 1 && saves(run, planned) && planned->passes_gradient)
                storage_save(run, planned, cast);
            storage_drop(run, cast);
        }
    }
}

/*
 * Drops the old keys of a cache that was copied into a larger one. transformers drops the old keys
 * of a sliding window together with the old values. With other caches, it drops the old keys before
 * it copies the values.
 */
static void drop_outgrown(struct run *run, const struct plan_layer *planned)
{
    const bool is_window = planned->layer->output.dims[0] < run->plan->settings.serve.tokens;
    const bool is_keys = run->cached_count % 2;
    storage_drop(run, run->held_keys);
    run->held_keys = NONE;
    if (is_window && is_keys)
        run->held_keys = run->outgrown[planned->layer->index];
    else
        storage_drop(run, run->outgrown[planned->layer->index]);
}

static uint32_t make_result(struct run *run, const struct plan_layer *planned, uint32_t input)
{
    const bool cached = planned->layer->kind->traits & TRAIT_cache;
    if (planned->layer->kind->traits & TRAIT_aside)
        return input;
    if (planned->keeps_storage) {
        storage_hold(run, input);
        return input;
    }
    if (run->again && planned->is_kept)
        return run->kept[planned->layer->index]; /* with the hold of the first run */
    const bool spared = is_spared(run, planned) && !(planned->saves & SAVES_result);
    const uint32_t result = storage_new(run, cached ? CATEGORY_kv_cache : CATEGORY_activations,
                                        spared ? 0 : planned->output_bytes);
    if (planned->is_kept) {
        run->kept[planned->layer->index] = result;
        storage_hold(run, result);
    }
    if (cached) {
        storage_hold(run, result);
        run->cached[run->cached_count++] = result;
        drop_outgrown(run, planned);
    }
    return result;
}

static void save_clone(struct run *run, struct plan_layer *planned)
{
    if (!(planned->saves & SAVES_clone) || !saves(run, planned))
        return;
    uint32_t clone = storage_new(run, CATEGORY_activations, planned->input_bytes);
    storage_save(run, planned, clone);
    storage_drop(run, clone);
}

/*
 * Returns the number of inputs that the layer saves. A layer saves all, unless the model file gives
 * another number, which it can for an operation without a type.
 */
static size_t saved_inputs(const struct layer *layer)
{
    const uint64_t told = layer->fields.keeps_inputs;
    return told && told < layer->input_count ? told : layer->input_count;
}

static int forward_layer(struct run *run, struct plan_layer *planned)
{
    const size_t inputs = planned->layer->input_count;
    uint32_t input = inputs ? input_of(run, planned, 0) : NONE;
    uint32_t made[TENSORS_MAX * 2];
    if (planned->segment && !run->again &&
        (planned->layer->index == 0 || planned[-1].segment != planned->segment))
        run->first_outside[planned->segment] = run->outside_count;
    planned->saved_bytes = 0;
    run->first_saved[planned->layer->index] = run->saved_count;
    if (check_inplace(run, planned, input))
        return -1;
    save_clone(run, planned);
    take_inputs(run, planned, run->taken);
    cast_weights(run, planned);
    const uint32_t output = make_result(run, planned, input);
    unsigned count = make_extra(run, planned, made);
    if (!is_spared(run, planned))
        storage_drop(run, workspace_new(run, planned, CONV_FORWARD));
    const unsigned saved = saves(run, planned) ? planned->saves : SAVES_none;
    for (size_t i = 0; (saved & SAVES_input) && i < saved_inputs(planned->layer); i++)
        storage_save(run, planned, run->taken[i]);
    if (saved & SAVES_result)
        storage_save(run, planned, output);
    while (count > 0)
        storage_drop(run, made[--count]);
    for (size_t i = 0; i < inputs; i++)
        storage_drop(run, run->taken[i]);
    run->results[planned->layer->index] = output;
    const size_t readers = run->again ? planned->inner_readers : planned->readers;
    run->unread[planned->layer->index] = readers;
    if (readers == 0 && (run->again || planned->layer->index + 1 < run->plan->layer_count))
        storage_drop(run, output);
    inputs_drop(run, planned);
    return 0;
}

/* Returns the result of the model that the loop's loss reads. NULL: the loss reads the model's
 * input. */
static uint32_t *returned_by(struct run *run, const struct plan_layer *loss)
{
    const size_t source = loss->inputs[0];
    return source == MODEL_INPUT ? NULL : &run->results[source];
}

int run_forward(struct run *run)
{
    const size_t count = run->plan->layer_count;
    const bool drops = run->plan->settings.logits == LOGITS_dropped;
    run->prediction = NONE;
    for (size_t i = 0; i < count; i++) {
        struct plan_layer *planned = &run->plan->layers[i];
        schedule_at(run->schedule, SCHEDULE_forward, (int32_t)i);
        if (i < run->plan->predicted || !drops)
            ranks_forward(run, i);
        replicas_forward(run, i);
        if (i == run->plan->predicted && drops) {
            ranks_forward_end(run);
            replicas_return(run, returned_by(run, planned));
            if (run->plan->settings.training)
                caches_drop(run);
        } else if (i == run->plan->predicted) {
            run->prediction = input_of(run, planned, 0);
            storage_hold(run, run->prediction);
        }
        if (forward_layer(run, planned))
            return -1;
    }
    run->output = run->results[count - 1];
    casts_drop(run);
    ranks_forward_end(run);
    if (!drops || run->plan->predicted == count)
        replicas_return(run, run->prediction == NONE ? &run->output : &run->prediction);
    return 0;
}

int run_again(struct run *run, size_t layer)
{
    const struct plan_layer *layers = run->plan->layers;
    size_t first = layer, last = layer;
    int result = 0;
    while (first > 0 && layers[first - 1].segment == layers[layer].segment)
        first--;
    while (last + 1 < run->plan->layer_count && layers[last + 1].segment == layers[layer].segment)
        last++;
    run->again = true;
    for (run->stop = last; run->stop > first && !plan_layer_saves(&layers[run->stop]); run->stop--)
        ;
    for (size_t i = first; i <= last && !result; i++) {
        schedule_at(run->schedule, SCHEDULE_backward, (int32_t)i);
        result = forward_layer(run, &run->plan->layers[i]);
    }
    run->again = false;
    casts_drop(run);
    return result;
}
