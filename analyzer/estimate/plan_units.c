/* SPDX-License-Identifier: MIT */
/* See plan_units.h. */
#include "plan_units.h"

#include "analyzer/util/array.h"

#define PARAMETERS_FOR_EACH(i, plan, number)                                                       \
    for (size_t i = (plan)->units[number].first_parameter; i < (plan)->units[number].end; i++)     \
        if ((plan)->parameters[i].unit == (number))

static uint64_t computed_bytes(const struct plan *plan)
{
    return dtype_bytes(plan->dtype);
}

static uint64_t reduced_bytes(const struct plan *plan)
{
    const enum dtype dtype = plan->settings.reduce_dtype;
    return dtype < DTYPE_COUNT ? dtype_bytes(dtype) : computed_bytes(plan);
}

/* Returns the bytes of one element of the weights that are gathered. */
static uint64_t own_bytes(const struct plan *plan)
{
    return parallel_has_master(plan->settings.parallel) ? computed_bytes(plan)
                                                        : dtype_bytes(plan->settings.dtype);
}

/* Sums a unit in which each rank has some whole rows of each parameter. */
static void sum_rows(struct plan *plan, size_t number, struct checked *checked)
{
    struct plan_unit *unit = &plan->units[number];
    const uint64_t own = own_bytes(plan), reduced = reduced_bytes(plan);
    PARAMETERS_FOR_EACH(i, plan, number)
    {
        const struct plan_parameter *parameter = &plan->parameters[i];
        const uint64_t trained = parameter->frozen ? 0 : parameter->elements;
        const uint64_t bytes = checked_mul(checked, parameter->elements, computed_bytes(plan));
        unit->gather_bytes = checked_add(checked, unit->gather_bytes, bytes);
        unit->reduce_bytes =
            checked_add(checked, unit->reduce_bytes, checked_mul(checked, trained, reduced));
        unit->shard_bytes =
            checked_add(checked, unit->shard_bytes, reduced == own ? 0 : trained * own);
    }
}

/*
 * Cuts a flat unit, whose parameters lie one after the other in one tensor. The first rank has the
 * beginning of that tensor: some whole parameters, and a part of the next one.
 */
static void cut_row(struct plan *plan, size_t number, struct checked *checked)
{
    struct plan_unit *unit = &plan->units[number];
    const uint64_t own = dtype_bytes(plan->settings.dtype), reduced = reduced_bytes(plan);
    const uint64_t ranks = plan->settings.gpus;
    const uint64_t kept = unit->elements / ranks + (unit->elements % ranks > 0);
    uint64_t left = kept;
    PARAMETERS_FOR_EACH(i, plan, number)
    {
        struct plan_parameter *parameter = &plan->parameters[i];
        const uint64_t whole = parameter->gradient_bytes / computed_bytes(plan);
        parameter->elements = whole < left ? whole : left;
        parameter->bytes = parameter->elements * own;
        parameter->updated_elements = parameter->elements;
        parameter->updated_bytes = parameter->bytes;
        left -= parameter->elements;
    }
    unit->kept_bytes = checked_mul(checked, kept, own);
    unit->gather_bytes = checked_mul(checked, kept, computed_bytes(plan));
    unit->reduce_bytes = checked_mul(checked, kept, reduced);
    unit->shard_bytes = reduced == own ? 0 : unit->kept_bytes;
}

static void sum_unit(struct plan *plan, size_t number, struct checked *checked)
{
    struct plan_unit *unit = &plan->units[number];
    PARAMETERS_FOR_EACH(i, plan, number)
    unit->elements = checked_add(checked, unit->elements,
                                 plan->parameters[i].gradient_bytes / computed_bytes(plan));
    if (parallel_kind(plan->settings.parallel)->weights == WEIGHTS_flat)
        cut_row(plan, number, checked);
    else
        sum_rows(plan, number, checked);
    unit->cast_bytes = computed_bytes(plan) == own_bytes(plan) ? 0 : unit->gather_bytes;
    checked_mul3(checked, unit->gather_bytes, plan->settings.gpus, 2);
    checked_mul3(checked, unit->reduce_bytes, plan->settings.gpus, 2);
}

static int sum_units(struct plan *plan, struct err *err)
{
    struct checked checked = {false};
    for (size_t i = 0; i < plan->parameter_count; i++) {
        struct plan_unit *unit = &plan->units[plan->parameters[i].unit];
        unit->first_parameter = unit->end ? unit->first_parameter : i;
        unit->end = i + 1;
    }
    for (size_t i = 0; i < plan->unit_count; i++)
        sum_unit(plan, i, &checked);
    if (!checked.overflow)
        return 0;
    return err_set(err, ERR_INPUT, "the model is too large: its bytes do not fit in 64 bits");
}

/* Blocks are numbered in the order in which they run. */
int plan_units(struct plan *plan, struct err *err)
{
    if (!parallel_has_units(plan->settings.parallel))
        return 0;
    for (size_t i = 0; i < plan->layer_count; i++)
        if (plan->layers[i].unit >= plan->unit_count)
            plan->unit_count = plan->layers[i].unit + 1;
    plan->units = array_new(plan->unit_count, sizeof *plan->units, err);
    return plan->units ? sum_units(plan, err) : -1;
}
