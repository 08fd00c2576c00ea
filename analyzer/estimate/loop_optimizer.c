/* SPDX-License-Identifier: MIT */
/* The optimizer's step; see loop.h. */
#include "loop.h"

/*
 * bitsandbytes quantizes the states of parameters with at least QUANTIZED_LEAST elements, in blocks
 * of QUANTIZED_BLOCK elements with one scale each.
 */
enum { QUANTIZED_LEAST = 4096, QUANTIZED_BLOCK = 256 };

/* --- states --- */

static void make_state(struct run *run, uint64_t bytes, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        schedule_alloc(run->schedule, CATEGORY_optimizer, bytes);
}

static void make_factored(struct run *run, const struct plan_parameter *parameter)
{
    const struct shape *shape = parameter->shape;
    if (shape->rank < 2) {
        make_state(run, parameter->updated_bytes, 1);
        return;
    }
    make_state(run, parameter->updated_bytes / shape->dims[shape->rank - 1], 1);
    make_state(run, parameter->updated_bytes / shape->dims[shape->rank - 2], 1);
}

static void make_quantized(struct run *run, const struct plan_parameter *parameter, unsigned count)
{
    if (parameter->updated_elements < QUANTIZED_LEAST) {
        make_state(run, parameter->updated_elements * DTYPE_FP32_BYTES, count);
        return;
    }
    const uint64_t blocks = (parameter->updated_elements + QUANTIZED_BLOCK - 1) / QUANTIZED_BLOCK;
    make_state(run, parameter->updated_elements, count);
    make_state(run, blocks * DTYPE_FP32_BYTES, count);
}

static void make_states(struct run *run, const struct optimizer_kind *kind)
{
    const struct optimizer_kind *rest = optimizer_kind(OPTIMIZER_adamw);
    for (size_t i = 0; i < run->plan->parameter_count; i++) {
        const struct plan_parameter *parameter = &run->plan->parameters[i];
        if (parameter->frozen)
            continue;
        if (kind->kind == OPTIMIZER_STATE_factored)
            make_factored(run, parameter);
        else if (kind->kind == OPTIMIZER_STATE_wide)
            make_state(run, parameter->updated_elements * DTYPE_FP32_BYTES, kind->states);
        else if (kind->kind == OPTIMIZER_STATE_quantized)
            make_quantized(run, parameter, kind->states);
        else if (kind->kind == OPTIMIZER_STATE_orthogonal && parameter->shape->rank != 2)
            make_state(run, parameter->updated_bytes, rest->states);
        else
            make_state(run, parameter->updated_bytes, kind->states);
    }
}

/* --- temporaries --- */

/* Makes `count` temporaries for each parameter, all of which are live at once, and drops them. */
static void pass_whole(struct run *run, unsigned count)
{
    const size_t mark = run->storage_count, parameters = run->plan->parameter_count;
    for (size_t i = 0; i < parameters * count; i++)
        if (!run->plan->parameters[i % parameters].frozen)
            storage_new(run, CATEGORY_temporaries,
                        run->plan->parameters[i % parameters].updated_bytes);
    for (size_t i = mark; i < run->storage_count; i++)
        storage_drop(run, (uint32_t)i);
}

/*
 * Returns the bytes of Muon's Newton-Schulz iteration, which runs in 16 bit: the matrix, the next
 * matrix, and two square matrices with the length of the narrow side.
 */
static uint64_t orthogonal_bytes(const struct plan_parameter *parameter)
{
    const uint64_t *dims = parameter->shape->dims;
    const uint64_t narrow = dims[0] < dims[1] ? dims[0] : dims[1];
    return 2 * 2 * (parameter->updated_elements + narrow * narrow);
}

/*
 * Makes the temporaries of one parameter after the other. If kind->carried is set, the first
 * temporary of a parameter lives until the temporaries of the next parameter are made.
 */
static void pass_each(struct run *run, const struct optimizer_kind *kind)
{
    uint32_t carried = NONE;
    for (size_t i = 0; i < run->plan->parameter_count; i++) {
        const struct plan_parameter *parameter = &run->plan->parameters[i];
        const size_t mark = run->storage_count;
        if (parameter->frozen)
            continue;
        for (unsigned j = 0; j < kind->largest; j++)
            storage_new(run, CATEGORY_temporaries, parameter->updated_bytes);
        if (kind->kind == OPTIMIZER_STATE_orthogonal && parameter->shape->rank == 2)
            storage_new(run, CATEGORY_temporaries, orthogonal_bytes(parameter));
        storage_drop(run, carried);
        carried = kind->carried && mark < run->storage_count ? (uint32_t)mark : NONE;
        for (size_t j = mark; j < run->storage_count; j++)
            if (j != carried)
                storage_drop(run, (uint32_t)j);
    }
    storage_drop(run, carried);
}

void run_optimizer(struct run *run, int step)
{
    const struct optimizer_kind *kind = optimizer_kind(run->plan->settings.optimizer);
    schedule_at(run->schedule, SCHEDULE_optimizer, SCHEDULE_NO_LAYER);
    if (parallel_kind(run->plan->settings.parallel)->states == STATES_none)
        return;
    const uint32_t master = zero_step(run);
    zero_step_end(run);
    if (step == 0)
        make_states(run, kind);
    if (kind->whole > 0)
        pass_whole(run, kind->whole);
    if (kind->largest > 0)
        pass_each(run, kind);
    const bool frees = !settings_before(&run->plan->settings, TORCH_foreach);
    for (size_t i = 0; frees && i < run->plan->parameter_count; i++) {
        schedule_free(run->schedule, CATEGORY_gradients, run->gradients[i],
                      run->plan->parameters[i].gradient_bytes);
        run->gradients[i] = SCHEDULE_NO_BLOCK;
    }
    ranks_step_end(run);
    storage_drop(run, master);
}
