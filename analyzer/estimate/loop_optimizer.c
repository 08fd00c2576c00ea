/* SPDX-License-Identifier: MIT */
/* The optimizer's step; see loop.h. */
#include "loop.h"

/*
 * bitsandbytes quantizes the states of parameters with at least QUANTIZED_LEAST elements, in blocks
 * of QUANTIZED_BLOCK elements with one scale each. Its paged optimizers take managed memory for
 * states of at least PAGED_LEAST elements, but not for the scales.
 */
enum { QUANTIZED_LEAST = 4096, QUANTIZED_BLOCK = 256, PAGED_LEAST = 100000 };

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

/* Makes the states that bitsandbytes keeps beside a parameter, except those in managed memory. */
static void make_elements(struct run *run, const struct optimizer_kind *kind, uint64_t elements,
                          uint64_t element_bytes)
{
    if (!optimizer_is_paged(kind) || elements < PAGED_LEAST)
        make_state(run, elements * element_bytes, kind->states);
}

static void make_quantized(struct run *run, const struct optimizer_kind *kind, uint64_t elements)
{
    if (elements < QUANTIZED_LEAST) {
        make_elements(run, kind, elements, DTYPE_FP32_BYTES);
        return;
    }
    const uint64_t blocks = (elements + QUANTIZED_BLOCK - 1) / QUANTIZED_BLOCK;
    make_elements(run, kind, elements, 1);
    make_state(run, blocks * DTYPE_FP32_BYTES, kind->states);
}

static void make_states_of(struct run *run, const struct optimizer_kind *kind,
                           const struct plan_parameter *parameter)
{
    switch (kind->kind) {
    case OPTIMIZER_STATE_factored:
        make_factored(run, parameter);
        return;
    case OPTIMIZER_STATE_wide:
    case OPTIMIZER_STATE_paged_wide:
        make_elements(run, kind, parameter->updated_elements, DTYPE_FP32_BYTES);
        return;
    case OPTIMIZER_STATE_quantized:
    case OPTIMIZER_STATE_paged_quantized:
        make_quantized(run, kind, parameter->updated_elements);
        return;
    case OPTIMIZER_STATE_orthogonal:
        if (parameter->shape->rank != 2)
            kind = optimizer_kind(OPTIMIZER_adamw);
        break;
    case OPTIMIZER_STATE_alike:
        break;
    }
    make_state(run, parameter->updated_bytes, kind->states);
}

static void make_states(struct run *run, const struct optimizer_kind *kind)
{
    for (size_t i = 0; i < run->plan->parameter_count; i++)
        if (!run->plan->parameters[i].frozen)
            make_states_of(run, kind, &run->plan->parameters[i]);
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
