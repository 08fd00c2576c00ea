/* SPDX-License-Identifier: MIT */
/*
 * Makes and drops the storages that a rank of DeepSpeed's ZeRO holds besides the model's; see
 * loop.h and parallel/parallel.def. Each gradient is copied into a bucket. In stages 1 and 2, the
 * bucket is reduced when it is full, and at the end of backward:
 *
 *     stage 1    whole gradients stay until backward is over; after that, 1/N of each stays
 *     stage 2    a copy of the bucket is reduced, and 1/N of each gradient stays
 *     stage 3    the bucket and 1/N of all gradients exist from the start
 */
#include "loop.h"

/* DeepSpeed's defaults of zero_optimization: reduce_bucket_size, stage3_max_reuse_distance. */
#define BUCKET_ELEMENTS UINT64_C(500000000)
#define REUSE_ELEMENTS UINT64_C(1000000000)

/* The value in ranks.parts of a part that is not made yet. */
#define WAITING (NONE - 1)

static enum parallel_gradients gradients_of(const struct run *run)
{
    return parallel_kind(run->plan->settings.parallel)->gradients;
}

static bool has_master(const struct run *run)
{
    return parallel_has_master(run->plan->settings.parallel) && run->plan->settings.training;
}

static uint64_t element_bytes(const struct run *run)
{
    return dtype_bytes(run->plan->dtype);
}

static bool is_gathered(const struct run *run)
{
    return parallel_has_units(run->plan->settings.parallel);
}

static uint64_t updated_elements(const struct run *run)
{
    uint64_t elements = 0;
    for (size_t i = 0; i < run->plan->parameter_count; i++)
        elements += run->plan->parameters[i].frozen ? 0 : run->plan->parameters[i].updated_elements;
    return elements;
}

static uint64_t updated_bytes(const struct run *run)
{
    return updated_elements(run) * dtype_bytes(run->plan->settings.dtype);
}

static void bucket_make(struct run *run)
{
    run->ranks.bucket =
        storage_new(run, CATEGORY_communication, BUCKET_ELEMENTS * element_bytes(run));
}

void zero_load(struct run *run)
{
    if (!has_master(run))
        return;
    storage_new(run, CATEGORY_optimizer, updated_bytes(run));
    if (!is_gathered(run))
        return;
    storage_new(run, CATEGORY_gradients, updated_elements(run) * element_bytes(run));
    bucket_make(run);
}

bool zero_keeps_weights(const struct run *run, size_t unit)
{
    uint64_t between = 0; /* elements in use between the unit's forward and its backward */
    for (size_t i = unit + 1; unit > 0 && i < run->plan->unit_count; i++)
        between += 2 * run->plan->units[i].elements;
    return between <= REUSE_ELEMENTS;
}

/* Makes this rank's part of each gradient whose part is WAITING. */
static void make_parts(struct run *run)
{
    for (size_t i = 0; i < run->plan->parameter_count; i++)
        if (run->ranks.parts[i] == WAITING)
            run->ranks.parts[i] =
                storage_new(run, CATEGORY_gradients,
                            run->plan->parameters[i].updated_elements * element_bytes(run));
}

/* Reduces the gradients in the bucket. */
static void bucket_empty(struct run *run)
{
    if (gradients_of(run) == GRADIENTS_parted) {
        storage_drop(
            run, storage_new(run, CATEGORY_communication, run->ranks.filled * element_bytes(run)));
        make_parts(run);
    }
    run->ranks.filled = 0;
}

bool zero_gradient(struct run *run, size_t parameter)
{
    const struct plan_parameter *planned = &run->plan->parameters[parameter];
    uint32_t *part = &run->ranks.parts[parameter];
    const uint64_t elements = planned->gradient_bytes / element_bytes(run);
    if (!has_master(run) || is_gathered(run))
        return false;
    if (run->ranks.bucket == NONE)
        bucket_make(run);
    if (run->ranks.filled > 0 && run->ranks.filled + elements > BUCKET_ELEMENTS)
        bucket_empty(run);
    run->ranks.filled += elements;
    const uint32_t own = storage_new(run, CATEGORY_temporaries, planned->gradient_bytes);
    if (gradients_of(run) == GRADIENTS_parted)
        *part = *part == NONE ? WAITING : *part;
    else if (*part == NONE)
        *part = storage_new(run, CATEGORY_gradients, planned->gradient_bytes);
    storage_drop(run, own);
    return true;
}

/* Replaces each whole gradient by this rank's part of it. */
static void keep_parts(struct run *run)
{
    for (size_t i = 0; i < run->plan->parameter_count; i++) {
        if (run->ranks.parts[i] == NONE)
            continue;
        storage_drop(run, run->ranks.parts[i]);
        run->ranks.parts[i] = WAITING;
    }
    make_parts(run);
}

void zero_backward_end(struct run *run)
{
    if (!has_master(run) || is_gathered(run))
        return;
    bucket_empty(run);
    storage_drop(run, run->ranks.bucket);
    run->ranks.bucket = NONE;
    if (gradients_of(run) == GRADIENTS_kept)
        keep_parts(run);
}

uint32_t zero_step(struct run *run)
{
    return has_master(run) ? storage_new(run, CATEGORY_temporaries, updated_bytes(run)) : NONE;
}

void zero_step_end(struct run *run)
{
    for (size_t i = 0; i < run->plan->parameter_count; i++) {
        storage_drop(run, run->ranks.parts[i]);
        run->ranks.parts[i] = NONE;
    }
}
