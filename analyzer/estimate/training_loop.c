/* SPDX-License-Identifier: MIT */
/* The loop as PyTorch runs it; see training_loop.h. */
#include "training_loop.h"

#include <stdlib.h>

#include "cache_growth.h"
#include "load_order.h"
#include "loop.h"
#include "analyzer/estimate/layer/quantized.h"
#include "analyzer/util/array.h"

/* --- init and data --- */

static void load_layer(struct run *run, size_t layer, bool is_flat)
{
    const struct plan_layer *planned = &run->plan->layers[layer];
    const uint64_t copied = quantized_copy_bytes(planned->layer, &planned->own, run->plan->dtype);
    size_t parameter = planned->first_parameter;
    schedule_at(run->schedule, SCHEDULE_init, (int32_t)layer);
    const uint32_t wide = schedule_alloc(run->schedule, CATEGORY_temporaries, copied);
    for (size_t j = 0; j < planned->own.count; j++) {
        const struct tensor *tensor = &planned->own.items[j];
        const bool is_parameter = tensor->category == CATEGORY_parameters;
        for (uint64_t copy = 0; copy < tensor->count && !(is_parameter && is_flat); copy++)
            schedule_alloc(run->schedule, tensor->category,
                           is_parameter ? run->plan->parameters[parameter++].bytes : tensor->bytes);
    }
    schedule_free(run->schedule, CATEGORY_temporaries, wide, copied);
}

static int load_model(struct run *run, struct err *err)
{
    const bool is_flat = parallel_kind(run->plan->settings.parallel)->weights == WEIGHTS_flat;
    if (parallel_kind(run->plan->settings.parallel)->weights == WEIGHTS_replica)
        return 0; /* a replica's weights arrive in each pass */
    size_t *order = load_order(run->plan, err);
    if (!order)
        return -1;
    for (size_t i = 0; i < run->plan->layer_count; i++)
        load_layer(run, order[i], is_flat);
    free(order);
    ranks_load(run);
    zero_load(run);
    return 0;
}

/* Returns how many times the settings' batch the loop moves to this GPU. With DataParallel, the
 * first GPU gets the batches of all GPUs. */
static uint64_t batches_given(const struct run *run)
{
    const struct settings *settings = &run->plan->settings;
    const bool is_given_all = parallel_kind(settings->parallel)->gradients == GRADIENTS_summed;
    return is_given_all ? settings->gpus : 1;
}

/*
 * Loads the next batch. The loop drops the old batch when it has the new one on the host, before it
 * copies the new one to the device.
 */
static void load_input(struct run *run)
{
    storage_drop(run, run->input);
    run->input = storage_new(run, CATEGORY_input, run->plan->input_bytes * batches_given(run));
}

static void load_targets(struct run *run)
{
    const struct plan_layer *last = &run->plan->layers[run->plan->layer_count - 1];
    const struct tensors *extra = &last->extra;
    const uint64_t batches = last->flow.batch > run->plan->settings.batch ? 1 : batches_given(run);
    while (run->target_count > 0)
        storage_drop(run, run->targets[--run->target_count]);
    for (size_t i = 0; i < extra->count; i++) {
        const struct tensor *tensor = &extra->items[i];
        if (tensor->category == CATEGORY_input)
            run->targets[run->target_count++] =
                storage_new(run, CATEGORY_input, tensor->bytes * batches);
    }
}

/* Makes the pool of cache blocks for all sequences, which lives until the end of the run. */
static void make_pool(struct run *run)
{
    const struct serve *serve = &run->plan->settings.serve;
    schedule_at(run->schedule, SCHEDULE_data, SCHEDULE_NO_LAYER);
    for (uint64_t i = 0; i < serve->pool_pieces; i++)
        schedule_alloc(run->schedule, CATEGORY_kv_cache,
                       serve->pool_bytes / serve->pool_pieces +
                           (i < serve->pool_bytes % serve->pool_pieces));
}

/* Makes the caches as they are before the last token. With growth, the previous pass made them. */
static void load_caches(struct run *run)
{
    const struct serve *serve = &run->plan->settings.serve;
    if (serve->pass != SERVE_decode || serve->pool_bytes || serve->growth)
        return;
    for (size_t i = 0; i < run->plan->layer_count; i++) {
        const struct plan_layer *planned = &run->plan->layers[i];
        const uint64_t rows = planned->layer->output.dims[0];
        const uint64_t tokens = serve->tokens - 1 < rows ? serve->tokens - 1 : rows;
        if (planned->layer->kind->traits & TRAIT_cache)
            run->outgrown[i] =
                storage_new(run, CATEGORY_kv_cache, planned->output_bytes / rows * tokens);
    }
}

/* --- the loop --- */

static void outputs_drop(struct run *run)
{
    storage_drop(run, run->prediction);
    storage_drop(run, run->output);
    caches_drop(run);
}

/*
 * Holds the storages of the other batches of a pipeline. Before its first backward, a pipeline's
 * first stage runs the forward of as many batches as there are stages (1F1B, arXiv 2104.04473).
 * Each of these batches holds storages of the same sizes as this batch. Returns the number of the
 * first copy.
 */
static size_t others_hold(struct run *run, size_t mark, size_t end)
{
    const struct settings *settings = &run->plan->settings;
    const uint64_t under_way =
        settings->stages < settings->accumulation ? settings->stages : settings->accumulation;
    const size_t first = run->storage_count;
    for (uint64_t batch = 1; batch < under_way && settings->training; batch++)
        for (size_t i = mark; i < end; i++)
            if (run->storages[i].holders > 0)
                storage_new(run, run->storages[i].category, run->storages[i].bytes);
    return first;
}

static int run_batch(struct run *run, bool is_first)
{
    const size_t mark = run->storage_count;
    schedule_at(run->schedule, SCHEDULE_data, SCHEDULE_NO_LAYER);
    load_input(run);
    load_targets(run);
    load_caches(run);
    if (is_first) {
        schedule_at(run->schedule, SCHEDULE_forward, 0);
        schedule_alloc(run->schedule, CATEGORY_workspace, run->plan->settings.workspace_bytes);
    }
    if (run_forward(run))
        return -1;
    const size_t others = others_hold(run, mark, run->storage_count), end = run->storage_count;
    const int result = run->plan->settings.training ? run_backward(run) : 0;
    for (size_t i = others; i < end; i++)
        storage_drop(run, (uint32_t)i);
    return result;
}

/* Runs one pass for each token. The next pass outgrows the caches of a pass, and then replaces its
 * scores. */
static int run_growth(struct run *run)
{
    const struct serve *serve = &run->plan->settings.serve;
    uint32_t scores = NONE;
    for (uint64_t tokens = serve->growth->tokens[0]; tokens <= serve->tokens; tokens++) {
        size_t cache = 0;
        cache_growth_set(run->plan, serve->growth, tokens);
        if (run_batch(run, false))
            return -1;
        for (size_t i = 0; i < run->plan->layer_count; i++)
            if (run->plan->layers[i].layer->kind->traits & TRAIT_cache)
                run->outgrown[i] = run->cached[cache++];
        run->cached_count = 0;
        storage_drop(run, scores);
        scores = run->output;
        run->output = NONE;
        outputs_drop(run);
    }
    return run->schedule->err.code != ERR_NONE ? -1 : 0;
}

/* Runs a training step. At most two of its batches are run, because later batches repeat the
 * second. */
static int run_step(struct run *run, int step)
{
    const struct settings *settings = &run->plan->settings;
    const int batches = settings->training && settings->accumulation > 1 ? 2 : 1;
    for (int batch = 0; batch < batches; batch++) {
        if (batch > 0)
            outputs_drop(run);
        if (run_batch(run, step == 0 && batch == 0))
            return -1;
    }
    if (settings->training)
        run_optimizer(run, step);
    else
        schedule_at(run->schedule, SCHEDULE_data, SCHEDULE_NO_LAYER);
    outputs_drop(run);
    return run->schedule->err.code != ERR_NONE ? -1 : 0;
}

static int run_steps(struct run *run)
{
    int result = 0;
    for (int step = 0; step < TRAINING_LOOP_STEPS && !result; step++)
        result = run_step(run, step);
    return result;
}

int training_loop_record(struct plan *plan, struct schedule *schedule, struct err *err)
{
    struct run run = {
        .plan = plan, .schedule = schedule, .input = NONE, .held_keys = NONE, .err = err};
    int result = -1;
    *schedule = (struct schedule){0};
    run.first_saved = array_new(plan->layer_count, sizeof *run.first_saved, err);
    run.tied = array_new(plan->layer_count, sizeof *run.tied, err);
    run.gradients = array_new(plan->parameter_count, sizeof *run.gradients, err);
    run.results = array_new(plan->layer_count, sizeof *run.results, err);
    run.unread = array_new(plan->layer_count, sizeof *run.unread, err);
    run.flowing = array_new(plan->layer_count, sizeof *run.flowing, err);
    run.kept = array_new(plan->layer_count, sizeof *run.kept, err);
    run.outgrown = array_new(plan->layer_count, sizeof *run.outgrown, err);
    run.cached = array_new(plan->layer_count, sizeof *run.cached, err);
    run.first_outside = array_new(plan->layer_count + 1, sizeof *run.first_outside, err);
    if (!run.first_saved || !run.tied || !run.gradients || !run.results || !run.unread ||
        !run.flowing || !run.cached || !run.outgrown || !run.kept || !run.first_outside ||
        ranks_init(&run, err) || load_model(&run, err))
        goto out;
    make_pool(&run);
    for (size_t i = 0; i < plan->layer_count; i++)
        run.outgrown[i] = NONE;
    result = plan->settings.serve.growth ? run_growth(&run) : run_steps(&run);
    if (result && schedule->err.code != ERR_NONE)
        *err = schedule->err;
out:
    ranks_release(&run.ranks);
    free(run.saved);
    free(run.first_saved);
    free(run.tied);
    free(run.gradients);
    free(run.results);
    free(run.unread);
    free(run.flowing);
    free(run.cached);
    free(run.outgrown);
    free(run.kept);
    free(run.casts);
    free(run.first_outside);
    free(run.outside);
    free(run.storages);
    if (result)
        schedule_release(schedule);
    return result;
}
