/* SPDX-License-Identifier: MIT */
/*
 * Makes and drops the storages that one of several ranks holds besides the model's; see loop.h and
 * parallel/parallel.def.
 */
#include "loop.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

/*
 * Sizes in torch.nn.parallel.DistributedDataParallel: of the first bucket, of later buckets
 * (bucket_cap_mb), and of one broadcast.
 */
#define BUCKET_FIRST_BYTES (UINT64_C(1) << 20)
#define BUCKET_BYTES (UINT64_C(25) << 20)
#define BROADCAST_BYTES (UINT64_C(250) << 20)

static const struct parallel_kind *kind_of(const struct run *run)
{
    return parallel_kind(run->plan->settings.parallel);
}

static bool is_flat(const struct run *run)
{
    return kind_of(run)->weights == WEIGHTS_flat;
}

int ranks_init(struct run *run, struct err *err)
{
    struct ranks *ranks = &run->ranks;
    const struct plan *plan = run->plan;
    *ranks = (struct ranks){.held = NONE, .reducing = NONE, .bucket = NONE};
    ranks->weights = array_new(plan->parameter_count, sizeof *ranks->weights, err);
    ranks->parts = array_new(plan->parameter_count, sizeof *ranks->parts, err);
    ranks->buckets = array_new(plan->parameter_count, sizeof *ranks->buckets, err);
    ranks->arrived = array_new(plan->unit_count, sizeof *ranks->arrived, err);
    const size_t shard_count = has_replicas(run) ? plan->parameter_count : plan->unit_count;
    ranks->shards = array_new(shard_count, sizeof *ranks->shards, err);
    if (!ranks->weights || !ranks->buckets || !ranks->parts || !ranks->arrived || !ranks->shards)
        return -1;
    for (size_t i = 0; i < plan->parameter_count; i++)
        ranks->weights[i] = ranks->parts[i] = NONE;
    for (size_t i = 0; i < plan->unit_count; i++)
        ranks->arrived[i] = NONE;
    for (size_t i = 0; i < shard_count; i++)
        ranks->shards[i] = NONE;
    return 0;
}

void ranks_release(struct ranks *ranks)
{
    free(ranks->weights);
    free(ranks->buckets);
    free(ranks->parts);
    free(ranks->arrived);
    free(ranks->shards);
}

/* --- buckets: one in the first pass, several in later passes, in the order of the gradients --- */

static bool has_buckets(const struct run *run)
{
    const enum parallel_gradients gradients = kind_of(run)->gradients;
    return run->plan->settings.training &&
           (gradients == GRADIENTS_copied || gradients == GRADIENTS_viewed);
}

static void make_buckets(struct run *run, uint64_t first_bytes)
{
    const size_t count = run->plan->parameter_count;
    const enum category category =
        kind_of(run)->gradients == GRADIENTS_viewed ? CATEGORY_gradients : CATEGORY_communication;
    struct ranks *ranks = &run->ranks;
    uint64_t bytes = 0, limit = first_bytes;
    while (ranks->bucket_count > 0)
        storage_drop(run, ranks->buckets[--ranks->bucket_count]);
    for (size_t i = 0; i < count; i++) {
        const struct plan_parameter *parameter = &run->plan->parameters[count - 1 - i];
        bytes += parameter->frozen ? 0 : parameter->gradient_bytes;
        if (bytes < limit && i + 1 < count)
            continue;
        ranks->buckets[ranks->bucket_count++] = storage_new(run, category, bytes);
        bytes = 0;
        limit = BUCKET_BYTES;
    }
}

/* Sends the first rank's weights to the other ranks in pieces. Two pieces are live at once. */
static void broadcast(struct run *run)
{
    uint32_t before = NONE;
    uint64_t bytes = 0;
    for (size_t i = 0; i < run->plan->parameter_count; i++) {
        bytes += run->plan->parameters[i].bytes;
        if (bytes < BROADCAST_BYTES && i + 1 < run->plan->parameter_count)
            continue;
        const uint32_t piece = storage_new(run, CATEGORY_communication, bytes);
        storage_drop(run, before);
        before = piece;
        bytes = 0;
    }
    storage_drop(run, before);
}

/* --- units --- */

static bool keeps_weights(const struct run *run, size_t unit)
{
    const enum reshard reshard = run->plan->settings.reshard;
    if (parallel_has_master(run->plan->settings.parallel))
        return zero_keeps_weights(run, unit);
    return reshard == RESHARD_never || (reshard == RESHARD_auto && unit == 0) ||
           (reshard == RESHARD_but_last && unit == run->plan->unit_count - 1);
}

#define PARAMETERS_FOR_EACH(i, run, number)                                                        \
    for (size_t i = (run)->plan->units[number].first_parameter;                                    \
         i < (run)->plan->units[number].end; i++)                                                  \
        if ((run)->plan->parameters[i].unit == (number))

static bool is_open(const struct run *run, size_t unit)
{
    if (is_flat(run))
        return run->ranks.arrived[unit] != NONE;
    PARAMETERS_FOR_EACH(i, run, unit)
    return run->ranks.weights[i] != NONE;
    return false;
}

/*
 * Gathers a unit. The input of the all-gather is a part of its output. If the weights are gathered
 * in another type, the input is first cast to that type.
 */
static void unit_gather(struct run *run, size_t unit)
{
    const struct plan_unit *planned = &run->plan->units[unit];
    uint32_t *arrived = &run->ranks.arrived[unit];
    if (*arrived != NONE || is_open(run, unit))
        return;
    schedule_on(run->schedule, SCHEDULE_gather);
    const uint32_t cast = storage_new(run, CATEGORY_communication, planned->cast_bytes);
    *arrived = storage_new(run, is_flat(run) ? CATEGORY_parameters : CATEGORY_communication,
                           planned->gather_bytes * run->plan->settings.gpus);
    storage_drop(run, cast);
    schedule_on(run->schedule, SCHEDULE_compute);
}

static void held_drop(struct run *run)
{
    storage_drop(run, run->ranks.held);
    run->ranks.held = NONE;
}

/*
 * Makes a unit's gathered weights. In forward, the output of a unit's all-gather is held until the
 * output of the next unit has arrived, because PyTorch copies the one out while the other arrives.
 */
static void unit_open(struct run *run, size_t unit, bool is_forward)
{
    if (is_open(run, unit))
        return;
    unit_gather(run, unit);
    if (is_flat(run))
        return; /* the weights are views of the all-gather's output */
    if (is_forward)
        held_drop(run);
    PARAMETERS_FOR_EACH(i, run, unit)
    run->ranks.weights[i] =
        storage_new(run, CATEGORY_parameters, run->plan->parameters[i].gathered_bytes);
    if (is_forward)
        run->ranks.held = run->ranks.arrived[unit];
    else
        storage_drop(run, run->ranks.arrived[unit]);
    run->ranks.arrived[unit] = NONE;
}

static void unit_close(struct run *run, size_t unit)
{
    if (is_flat(run)) {
        storage_drop(run, run->ranks.arrived[unit]);
        run->ranks.arrived[unit] = NONE;
    }
    PARAMETERS_FOR_EACH(i, run, unit)
    {
        storage_drop(run, run->ranks.weights[i]);
        run->ranks.weights[i] = NONE;
    }
}

static void gradients_drop(struct run *run, size_t unit)
{
    PARAMETERS_FOR_EACH(i, run, unit)
    {
        schedule_free(run->schedule, CATEGORY_gradients, run->gradients[i],
                      run->plan->parameters[i].gradient_bytes);
        run->gradients[i] = SCHEDULE_NO_BLOCK;
    }
}

/* Makes this rank's part of the unit's gradients, or adds it to an earlier batch's part. */
static void shard_make(struct run *run, size_t unit)
{
    const struct plan_unit *planned = &run->plan->units[unit];
    schedule_on(run->schedule, SCHEDULE_reduce);
    uint32_t shard = storage_new(run, CATEGORY_gradients, planned->reduce_bytes);
    if (planned->shard_bytes > 0) {
        const uint32_t cast = storage_new(run, CATEGORY_gradients, planned->shard_bytes);
        storage_drop(run, shard);
        shard = cast;
    }
    schedule_on(run->schedule, SCHEDULE_compute);
    if (run->ranks.shards[unit] == NONE)
        run->ranks.shards[unit] = shard;
    else
        storage_drop(run, shard);
}

/*
 * Copies the unit's gradients into one flat tensor, casts this tensor if it is reduced in another
 * type, and reduces it to this rank's part.
 */
static void flat_reduce(struct run *run, size_t unit)
{
    const struct plan_unit *planned = &run->plan->units[unit];
    const uint64_t gpus = run->plan->settings.gpus;
    const uint32_t flat = storage_new(run, CATEGORY_gradients, planned->gather_bytes * gpus);
    gradients_drop(run, unit);
    unit_close(run, unit);
    schedule_on(run->schedule, SCHEDULE_reduce);
    const bool is_cast = planned->reduce_bytes != planned->gather_bytes;
    const uint32_t cast =
        storage_new(run, CATEGORY_communication, is_cast ? planned->reduce_bytes * gpus : 0);
    schedule_on(run->schedule, SCHEDULE_compute);
    shard_make(run, unit);
    storage_drop(run, cast);
    storage_drop(run, flat);
}

/* Reduces a unit's gradients. The input of the reduce-scatter lives until the next unit makes its
 * own. */
static void unit_reduce(struct run *run, size_t unit)
{
    if (is_flat(run)) {
        flat_reduce(run, unit);
        return;
    }
    unit_close(run, unit);
    if (parallel_has_master(run->plan->settings.parallel)) {
        gradients_drop(run, unit); /* ZeRO has copied the gradients into its bucket */
        return;
    }
    storage_drop(run, run->ranks.reducing);
    run->ranks.reducing =
        storage_new(run, CATEGORY_communication,
                    run->plan->units[unit].reduce_bytes * run->plan->settings.gpus);
    gradients_drop(run, unit);
    shard_make(run, unit);
}

/*
 * Loads each block, and unit 0 last. All weights of a unit are made first. They are copied into one
 * flat tensor, and only this rank's part of that tensor stays.
 */
static void flat_load(struct run *run)
{
    const uint64_t own = dtype_bytes(run->plan->settings.dtype),
                   computed = dtype_bytes(run->plan->dtype);
    for (size_t turn = 1; turn <= run->plan->unit_count; turn++) {
        const size_t unit = turn % run->plan->unit_count;
        const struct plan_unit *planned = &run->plan->units[unit];
        PARAMETERS_FOR_EACH(i, run, unit)
        run->ranks.weights[i] = storage_new(
            run, CATEGORY_parameters, run->plan->parameters[i].gradient_bytes / computed * own);
        const uint32_t row = storage_new(run, CATEGORY_parameters, planned->elements * own);
        unit_close(run, unit);
        storage_new(run, CATEGORY_parameters, planned->kept_bytes);
        storage_drop(run, row);
    }
}

void ranks_load(struct run *run)
{
    if (is_flat(run))
        flat_load(run);
    if (!has_buckets(run))
        return;
    broadcast(run);
    make_buckets(run, UINT64_MAX);
}

/* --- passes --- */

static void forward_leave(struct run *run)
{
    const size_t unit = run->ranks.running;
    if (unit != 0 && !keeps_weights(run, unit))
        unit_close(run, unit);
    run->ranks.running = 0;
}

void ranks_forward(struct run *run, size_t layer)
{
    struct ranks *ranks = &run->ranks;
    const size_t unit = run->plan->layers[layer].unit;
    if (layer == 0 && has_buckets(run) && ranks->passes++ == 1)
        make_buckets(run, BUCKET_FIRST_BYTES);
    if (run->plan->unit_count == 0)
        return;
    if (layer == 0)
        unit_open(run, 0, true);
    if (unit == ranks->running)
        return;
    forward_leave(run);
    ranks->running = unit;
    unit_open(run, unit, true);
}

void ranks_forward_end(struct run *run)
{
    if (run->plan->unit_count == 0)
        return;
    forward_leave(run);
    held_drop(run);
    if (!run->plan->settings.training || !keeps_weights(run, 0))
        unit_close(run, 0);
}

/* Gathers the unit's weights, and also those of the block that backward reaches next. Unit 0 comes
 * first. */
static void backward_enter(struct run *run, size_t unit)
{
    const size_t before = unit == 0 ? run->plan->unit_count - 1 : unit - 1;
    unit_open(run, unit, false);
    if (before != 0)
        unit_gather(run, before);
}

static void backward_leave(struct run *run)
{
    if (run->ranks.running != 0)
        unit_reduce(run, run->ranks.running);
    run->ranks.running = 0;
}

void ranks_backward(struct run *run, size_t layer)
{
    const size_t unit = run->plan->layers[layer].unit;
    const bool is_loss =
        run->plan->settings.logits == LOGITS_dropped && layer >= run->plan->predicted;
    if (run->plan->unit_count == 0 || is_loss)
        return;
    if (!run->ranks.is_backward)
        backward_enter(run, 0);
    run->ranks.is_backward = true;
    if (unit == run->ranks.running)
        return;
    backward_leave(run);
    run->ranks.running = unit;
    if (unit != 0)
        backward_enter(run, unit);
}

void ranks_backward_end(struct run *run)
{
    if (run->plan->unit_count == 0)
        return;
    run->ranks.is_backward = false;
    backward_leave(run);
    unit_reduce(run, 0);
    storage_drop(run, run->ranks.reducing);
    run->ranks.reducing = NONE;
}

void ranks_step_end(struct run *run)
{
    for (size_t i = 0; i < run->plan->unit_count; i++) {
        storage_drop(run, run->ranks.shards[i]);
        run->ranks.shards[i] = NONE;
    }
}
