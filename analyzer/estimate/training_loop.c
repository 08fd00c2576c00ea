/* SPDX-License-Identifier: MIT */
/* The loop as PyTorch runs it; see training_loop.h. */
#include "training_loop.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

#define SAVED_MOST 8
#define NONE UINT32_MAX

struct storage {
    uint64_t bytes;
    uint32_t block;
    enum category category;
    unsigned holders;
    unsigned saved; /* how many of the holders are nodes of the graph */
};

struct saved {
    uint32_t storages[SAVED_MOST];
    unsigned count;
};

struct run {
    struct plan *plan;
    struct schedule *schedule;
    struct storage *storages;
    size_t storage_count, storage_capacity;
    struct saved *saved; /* of each layer */
    uint32_t *gradients; /* block of each parameter's gradient */
    uint32_t input, targets[TENSORS_MAX];
    unsigned target_count;
    uint32_t prediction, output; /* what the loop holds until the end of the step */
    struct err *err;
};

/* --- storages --- */

/* A new storage, which the caller holds. */
static uint32_t storage_new(struct run *run, enum category category, uint64_t bytes)
{
    struct storage *grown = array_grow(run->storages, &run->storage_capacity, run->storage_count,
                                       sizeof *grown, &run->schedule->err);
    if (!grown)
        return NONE;
    run->storages = grown;
    grown[run->storage_count] =
        (struct storage){.bytes = bytes,
                         .block = schedule_alloc(run->schedule, category, bytes),
                         .category = category,
                         .holders = 1};
    return (uint32_t)run->storage_count++;
}

static void storage_hold(struct run *run, uint32_t storage)
{
    if (storage != NONE)
        run->storages[storage].holders++;
}

static void storage_drop(struct run *run, uint32_t storage)
{
    if (storage == NONE || --run->storages[storage].holders > 0)
        return;
    const struct storage *dead = &run->storages[storage];
    schedule_free(run->schedule, dead->category, dead->block, dead->bytes);
}

/* The layer's node of the graph holds the storage until its backward. */
static void storage_save(struct run *run, struct plan_layer *planned, uint32_t storage)
{
    struct saved *saved = &run->saved[planned->layer->index];
    if (storage == NONE || saved->count == SAVED_MOST)
        return;
    saved->storages[saved->count++] = storage;
    storage_hold(run, storage);
    if (run->storages[storage].saved++ == 0)
        planned->saved_bytes += run->storages[storage].bytes;
}

static void saved_drop(struct run *run, const struct plan_layer *planned)
{
    struct saved *saved = &run->saved[planned->layer->index];
    for (unsigned i = 0; i < saved->count; i++) {
        run->storages[saved->storages[i]].saved--;
        storage_drop(run, saved->storages[i]);
    }
    saved->count = 0;
}

/* --- init and data --- */

static void load_model(struct run *run)
{
    for (size_t i = 0; i < run->plan->layer_count; i++) {
        const struct tensors *own = &run->plan->layers[i].own;
        schedule_at(run->schedule, SCHEDULE_init, (int32_t)i);
        for (size_t j = 0; j < own->count; j++)
            for (uint64_t copy = 0; copy < own->items[j].count; copy++)
                schedule_alloc(run->schedule, own->items[j].category,
                               own->items[j].elements * own->items[j].element_bytes);
    }
}

/* The loop drops the old batch when it gets the new one on the host, before copying it over. */
static void load_input(struct run *run)
{
    storage_drop(run, run->input);
    run->input = storage_new(run, CATEGORY_input, run->plan->input_bytes);
}

static void load_targets(struct run *run)
{
    const struct tensors *extra = &run->plan->layers[run->plan->layer_count - 1].extra;
    while (run->target_count > 0)
        storage_drop(run, run->targets[--run->target_count]);
    for (size_t i = 0; i < extra->count; i++) {
        const struct tensor *tensor = &extra->items[i];
        if (tensor->category == CATEGORY_input)
            run->targets[run->target_count++] =
                storage_new(run, CATEGORY_input, tensor->elements * tensor->element_bytes);
    }
}

/* --- forward --- */

/* Makes the layer's extra tensors. The caller drops its holds on them; the graph may keep some. */
static unsigned make_extra(struct run *run, struct plan_layer *planned,
                           uint32_t made[TENSORS_MAX * 2])
{
    unsigned count = 0;
    for (size_t i = 0; i < planned->extra.count; i++) {
        const struct tensor *tensor = &planned->extra.items[i];
        for (uint64_t copy = 0; copy < tensor->count && count < TENSORS_MAX * 2; copy++) {
            if (tensor->category == CATEGORY_input)
                continue;
            uint32_t storage =
                storage_new(run, tensor->category, tensor->elements * tensor->element_bytes);
            if (planned->in_graph && tensor->category == CATEGORY_activations)
                storage_save(run, planned, storage);
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

/* *flowing is the input, then the result: the caller's hold passes from one to the other. */
static int forward_layer(struct run *run, struct plan_layer *planned, uint32_t *flowing)
{
    uint32_t input = *flowing, output = input, made[TENSORS_MAX * 2];
    planned->saved_bytes = 0;
    if (check_inplace(run, planned, input))
        return -1;
    if (planned->saves & SAVES_clone) {
        uint32_t clone = storage_new(run, CATEGORY_activations, planned->input_bytes);
        storage_save(run, planned, clone);
        storage_drop(run, clone);
    }
    if (planned->keeps_storage)
        storage_hold(run, input);
    else
        output = storage_new(run, CATEGORY_activations, planned->output_bytes);
    unsigned count = make_extra(run, planned, made);
    if (planned->saves & SAVES_input)
        storage_save(run, planned, input);
    if (planned->saves & SAVES_result)
        storage_save(run, planned, output);
    while (count > 0)
        storage_drop(run, made[--count]);
    storage_drop(run, input);
    *flowing = output;
    return 0;
}

static int run_forward(struct run *run)
{
    uint32_t flowing = run->input;
    storage_hold(run, flowing);
    run->prediction = NONE;
    for (size_t i = 0; i < run->plan->layer_count; i++) {
        struct plan_layer *planned = &run->plan->layers[i];
        schedule_at(run->schedule, SCHEDULE_forward, (int32_t)i);
        if (planned->layer->kind->traits & TRAIT_loss) {
            run->prediction = flowing;
            storage_hold(run, flowing);
        }
        if (forward_layer(run, planned, &flowing))
            return -1;
    }
    run->output = flowing;
    return 0;
}

/* --- backward --- */

static void make_gradients(struct run *run, const struct plan_layer *planned)
{
    for (size_t i = 0; i < planned->parameter_count; i++) {
        size_t parameter = planned->first_parameter + i;
        run->gradients[parameter] = schedule_alloc(run->schedule, CATEGORY_gradients,
                                                   run->plan->parameter_bytes[parameter]);
    }
}

/* Returns the gradient of the input; the caller's hold on that of the result passes to it. */
static uint32_t backward_layer(struct run *run, struct plan_layer *planned, uint32_t gradient)
{
    uint32_t passed = NONE, made[TENSORS_MAX];
    size_t count = planned->backward.count;
    if (planned->is_view)
        return gradient;
    for (size_t i = 0; i < count; i++)
        made[i] = storage_new(run, CATEGORY_temporaries,
                              planned->backward.items[i].elements *
                                  planned->backward.items[i].element_bytes);
    if (planned->passes_gradient)
        passed = storage_new(run, CATEGORY_temporaries, planned->input_bytes);
    make_gradients(run, planned);
    while (count > 0)
        storage_drop(run, made[--count]);
    saved_drop(run, planned);
    storage_drop(run, gradient);
    return passed;
}

static void run_backward(struct run *run)
{
    size_t last = run->plan->layer_count - 1;
    if (!run->plan->layers[last].in_graph)
        return;
    schedule_at(run->schedule, SCHEDULE_backward, (int32_t)last);
    uint32_t gradient =
        storage_new(run, CATEGORY_temporaries, run->plan->layers[last].gradient_bytes);
    for (size_t i = last + 1; i > 0 && run->plan->layers[i - 1].in_graph; i--) {
        schedule_at(run->schedule, SCHEDULE_backward, (int32_t)(i - 1));
        gradient = backward_layer(run, &run->plan->layers[i - 1], gradient);
    }
    storage_drop(run, gradient);
}

/* --- optimizer --- */

static void make_states(struct run *run, const struct optimizer_kind *kind)
{
    for (size_t i = 0; i < run->plan->parameter_count; i++)
        for (unsigned state = 0; state < kind->states; state++)
            schedule_alloc(run->schedule, CATEGORY_optimizer, run->plan->parameter_bytes[i]);
}

/* Makes and drops count temporaries for each parameter from first to end, all live at once. */
static void pass_temporaries(struct run *run, unsigned count, size_t first, size_t end)
{
    const uint64_t *bytes = run->plan->parameter_bytes;
    size_t tensors = (end - first) * count, mark = run->storage_count;
    for (size_t i = 0; i < tensors; i++)
        storage_new(run, CATEGORY_temporaries, bytes[first + i % (end - first)]);
    for (size_t i = mark; i < run->storage_count; i++)
        storage_drop(run, (uint32_t)i);
}

static void run_optimizer(struct run *run, int step)
{
    const struct optimizer_kind *kind = optimizer_kind(run->plan->settings.optimizer);
    size_t count = run->plan->parameter_count;
    schedule_at(run->schedule, SCHEDULE_optimizer, SCHEDULE_NO_LAYER);
    if (step == 0)
        make_states(run, kind);
    if (kind->whole > 0)
        pass_temporaries(run, kind->whole, 0, count);
    for (size_t i = 0; kind->largest > 0 && i < count; i++)
        pass_temporaries(run, kind->largest, i, i + 1);
    for (size_t i = 0; i < count; i++)
        schedule_free(run->schedule, CATEGORY_gradients, run->gradients[i],
                      run->plan->parameter_bytes[i]);
}

/* --- the loop --- */

static int run_step(struct run *run, int step)
{
    schedule_at(run->schedule, SCHEDULE_data, SCHEDULE_NO_LAYER);
    load_input(run);
    load_targets(run);
    if (step == 0) {
        schedule_at(run->schedule, SCHEDULE_forward, 0);
        schedule_alloc(run->schedule, CATEGORY_workspace, run->plan->settings.workspace_bytes);
    }
    if (run_forward(run))
        return -1;
    if (run->plan->settings.training) {
        run_backward(run);
        run_optimizer(run, step);
    } else {
        schedule_at(run->schedule, SCHEDULE_data, SCHEDULE_NO_LAYER);
    }
    storage_drop(run, run->prediction);
    storage_drop(run, run->output);
    return run->schedule->err.code != ERR_NONE ? -1 : 0;
}

int training_loop_record(struct plan *plan, struct schedule *schedule, struct err *err)
{
    struct run run = {.plan = plan, .schedule = schedule, .input = NONE, .err = err};
    int result = -1;
    *schedule = (struct schedule){0};
    run.saved = array_new(plan->layer_count, sizeof *run.saved, err);
    run.gradients = array_new(plan->parameter_count, sizeof *run.gradients, err);
    if (!run.saved || !run.gradients)
        goto out;
    load_model(&run);
    for (int step = 0; step < TRAINING_LOOP_STEPS; step++) {
        if (run_step(&run, step)) {
            if (schedule->err.code != ERR_NONE)
                *err = schedule->err;
            goto out;
        }
    }
    result = 0;
out:
    free(run.saved);
    free(run.gradients);
    free(run.storages);
    if (result)
        schedule_release(schedule);
    return result;
}
