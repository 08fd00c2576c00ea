/* SPDX-License-Identifier: MIT */
/*
 * Makes and drops the storages that a GPU of DataParallel holds besides the model's; see loop.h and
 * parallel/parallel.def.
 *
 *     forward    all GPUs get weights → each runs a part of the batch → the first gets the results
 *     backward   each replica makes its gradients → the first GPU sums them when all are there
 */
#include "loop.h"

/* torch.nn.parallel.comm.reduce_add_coalesced sums gradients in pieces of this size. */
#define PIECE_BYTES (UINT64_C(10) << 20)

static enum parallel_gradients gradients_of(const struct run *run)
{
    return parallel_kind(run->plan->settings.parallel)->gradients;
}

bool has_replicas(const struct run *run)
{
    return gradients_of(run) == GRADIENTS_summed || gradients_of(run) == GRADIENTS_sent;
}

/* Makes the copies of parameters and buffers that a replica holds during one pass. */
static void weights_arrive(struct run *run)
{
    uint64_t buffers_bytes = 0;
    for (size_t i = 0; i < run->plan->parameter_count; i++)
        run->ranks.weights[i] =
            storage_new(run, CATEGORY_parameters, run->plan->parameters[i].bytes);
    for (size_t i = 0; i < run->plan->layer_count; i++)
        buffers_bytes += tensors_bytes(&run->plan->layers[i].own, CATEGORY_buffers);
    run->ranks.held = storage_new(run, CATEGORY_buffers, buffers_bytes);
}

static void weights_go(struct run *run)
{
    for (size_t i = 0; i < run->plan->parameter_count; i++) {
        storage_drop(run, run->ranks.weights[i]);
        run->ranks.weights[i] = NONE;
    }
    storage_drop(run, run->ranks.held);
    run->ranks.held = NONE;
}

void replicas_forward(struct run *run, size_t layer)
{
    const bool is_replica = parallel_kind(run->plan->settings.parallel)->weights == WEIGHTS_replica;
    if (layer == 0 && is_replica)
        weights_arrive(run);
}

/* Makes one tensor of all replicas' results, and drops the first replica's own result. */
static void gather(struct run *run, uint32_t *returned)
{
    if (*returned == NONE)
        return;
    const uint64_t bytes = run->storages[*returned].bytes * run->plan->settings.gpus;
    const uint32_t own = *returned;
    *returned = storage_new(run, CATEGORY_activations, bytes);
    storage_drop(run, own);
}

static void send(struct run *run, uint32_t *returned)
{
    storage_drop(run, *returned);
    *returned = NONE;
}

void replicas_return(struct run *run, uint32_t *returned)
{
    if (!has_replicas(run))
        return;
    void (*take)(struct run *, uint32_t *) = gradients_of(run) == GRADIENTS_summed ? gather : send;
    if (returned)
        take(run, returned);
    for (size_t i = 0; i < run->cached_count; i++)
        take(run, &run->cached[i]);
    if (!run->plan->settings.training &&
        parallel_kind(run->plan->settings.parallel)->weights == WEIGHTS_replica)
        weights_go(run);
}

void replicas_gradient(struct run *run, size_t parameter)
{
    run->ranks.shards[parameter] =
        storage_new(run, CATEGORY_gradients, run->plan->parameters[parameter].gradient_bytes);
}

/*
 * Sums one piece. If a piece has several gradients, those of a replica are first copied into one
 * tensor. The model's gradients are parts of the sum.
 */
static void add_up(struct run *run, size_t first, size_t end, uint64_t bytes)
{
    const uint32_t row = end - first > 1 ? storage_new(run, CATEGORY_communication, bytes) : NONE;
    for (size_t i = first; i < end; i++) {
        const struct plan_parameter *parameter = &run->plan->parameters[i];
        if (parameter->frozen)
            continue;
        if (run->gradients[i] == SCHEDULE_NO_BLOCK)
            run->gradients[i] =
                schedule_alloc(run->schedule, CATEGORY_gradients, parameter->gradient_bytes);
        else
            storage_drop(run, storage_new(run, CATEGORY_temporaries, parameter->gradient_bytes));
    }
    storage_drop(run, row);
}

/* Sums all gradients in pieces of up to PIECE_BYTES. A larger tensor is a piece of its own. */
static void add_up_all(struct run *run)
{
    const size_t count = run->plan->parameter_count;
    uint64_t bytes = 0;
    size_t first = 0;
    for (size_t i = 0; i < count; i++) {
        const struct plan_parameter *parameter = &run->plan->parameters[i];
        const uint64_t more = parameter->frozen ? 0 : parameter->gradient_bytes;
        if (bytes > 0 && bytes + more > PIECE_BYTES) {
            add_up(run, first, i, bytes);
            first = i;
            bytes = 0;
        }
        bytes += more;
    }
    add_up(run, first, count, bytes);
}

void replicas_backward_end(struct run *run)
{
    if (!has_replicas(run))
        return;
    if (gradients_of(run) == GRADIENTS_summed)
        add_up_all(run);
    else
        weights_go(run);
    for (size_t i = 0; i < run->plan->parameter_count; i++) {
        storage_drop(run, run->ranks.shards[i]);
        run->ranks.shards[i] = NONE;
    }
}
