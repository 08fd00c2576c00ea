/* SPDX-License-Identifier: MIT */
/*
 * Makes the estimate: plans the model, records its run as a schedule, and replays the schedule
 * twice, once to sum live bytes and once through the model of the allocator; see estimate.h.
 */
#include "estimate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "training_loop.h"
#include "analyzer/allocator/allocator.h"
#include "analyzer/estimate/layer/layer_formulas.h"
#include "analyzer/util/array.h"

void estimate_release(struct estimate *estimate)
{
    plan_release(&estimate->plan);
    *estimate = (struct estimate){0};
}

/* --- live bytes --- */

static void moment_offer(struct estimate_moment *highest, const struct estimate_moment *now)
{
    if (now->total_bytes > highest->total_bytes)
        *highest = *now;
}

static int fail_sum(struct err *err)
{
    return err_set(err, ERR_INPUT, "the model is too large: its bytes do not fit in 64 bits");
}

static uint64_t rounding_of(uint64_t bytes)
{
    const uint64_t over = bytes % ALLOCATOR_ROUND_BYTES;
    return over ? ALLOCATOR_ROUND_BYTES - over : 0;
}

/*
 * Sums the live bytes. A phase's peak includes the bytes that are live when the phase begins.
 * forward_end is the state after the last event of the forward pass.
 */
static int replay_live(struct estimate *estimate, const struct schedule *schedule, struct err *err)
{
    struct estimate_moment now = {0};
    struct checked checked = {false};
    for (size_t i = 0; i < schedule->count; i++) {
        const struct schedule_event *event = &schedule->events[i];
        uint64_t *category_bytes = &now.category_bytes[event->category];
        now.phase = (enum schedule_phase)event->phase;
        now.layer = event->layer;
        moment_offer(&estimate->phase_peaks[event->phase], &now);
        const uint64_t rounding_bytes = rounding_of(event->bytes);
        if (event->is_free) {
            now.total_bytes -= event->bytes;
            *category_bytes -= event->bytes;
            now.rounding_bytes[event->category] -= rounding_bytes;
        } else {
            now.total_bytes = checked_add(&checked, now.total_bytes, event->bytes);
            *category_bytes += event->bytes;
            now.rounding_bytes[event->category] += rounding_bytes;
        }
        if (checked.overflow)
            return fail_sum(err);
        moment_offer(&estimate->peak_moment, &now);
        moment_offer(&estimate->phase_peaks[event->phase], &now);
        if (event->phase == SCHEDULE_init)
            estimate->load.requested_bytes = now.total_bytes;
        if (event->phase == SCHEDULE_forward)
            estimate->forward_end = now;
    }
    return 0;
}

/* --- the allocator --- */

static void note_load(struct estimate *estimate, const struct allocator *allocator)
{
    estimate->load.allocated_bytes = allocator->allocated_bytes;
    estimate->load.reserved_bytes = allocator->reserved_bytes;
}

static int replay_allocator(struct estimate *estimate, const struct schedule *schedule,
                            struct err *err)
{
    const struct allocator_settings settings = allocator_default_settings();
    struct allocator allocator;
    enum allocator_outcome outcome;
    int result = -1;
    allocator_init(&allocator, &settings);
    uint32_t *handles = array_new((size_t)schedule->blocks + 1, sizeof *handles, err);
    if (!handles)
        goto out;
    for (size_t i = 0; i < schedule->count; i++) {
        const struct schedule_event *event = &schedule->events[i];
        const struct allocator_request request = {
            .bytes = event->bytes, .stream = event->stream, .owner = ALLOCATOR_OF_ALL};
        uint32_t *handle = &handles[event->block];
        if (event->is_free ? allocator_free(&allocator, *handle, err)
                           : allocator_alloc(&allocator, &request, handle, &outcome, err))
            goto out;
        if (event->phase == SCHEDULE_init)
            note_load(estimate, &allocator);
    }
    estimate->peak.allocated_bytes = allocator.peak_allocated_bytes;
    estimate->peak.reserved_bytes = allocator.reserved_bytes;
    result = 0;
out:
    free(handles);
    allocator_release(&allocator);
    return result;
}

/* --- the whole --- */

static int sum_parameters(struct estimate *estimate, struct err *err)
{
    struct checked checked = {false};
    for (size_t i = 0; i < estimate->plan.layer_count; i++) {
        struct tensors *own = &estimate->plan.layers[i].own;
        estimate->parameter_count = checked_add(&checked, estimate->parameter_count,
                                                tensors_elements(own, CATEGORY_parameters));
        estimate->parameter_bytes = checked_add(&checked, estimate->parameter_bytes,
                                                tensors_bytes(own, CATEGORY_parameters));
        estimate->buffer_bytes =
            checked_add(&checked, estimate->buffer_bytes, tensors_bytes(own, CATEGORY_buffers));
    }
    return checked.overflow ? fail_sum(err) : 0;
}

static int sum_values(struct estimate *estimate, struct err *err)
{
    const struct plan *plan = &estimate->plan;
    struct checked checked = {false};
    estimate->input_values = checked_mul(
        &checked, shape_elements(&estimate->model->input, &checked), plan->settings.batch);
    estimate->result_values = plan_result_values(plan, &checked);
    return checked.overflow ? fail_sum(err) : 0;
}

static bool is_bias(const struct layer *layer, const struct tensor *tensor)
{
    return tensor->name && strcmp(tensor->name, "bias") == 0 &&
           (layer->kind->shape == shape_linear || layer->kind->shape == shape_conv ||
            layer->kind->shape == shape_transposed);
}

static uint64_t weight_bytes(const struct plan *plan, struct checked *checked)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < plan->layer_count; i++) {
        const struct plan_layer *planned = &plan->layers[i];
        for (size_t j = 0; j < planned->own.count; j++) {
            const struct tensor *tensor = &planned->own.items[j];
            if (tensor->category == CATEGORY_parameters && !is_bias(planned->layer, tensor))
                bytes =
                    checked_add(checked, bytes, checked_mul(checked, tensor->bytes, tensor->count));
        }
    }
    return bytes;
}

int rule_of_thumb(const struct plan *plan, bool training, struct rule_of_thumb *rule,
                  struct err *err)
{
    struct checked checked = {false};
    const uint64_t states = optimizer_kind(plan->settings.optimizer)->states;
    const uint64_t element_bytes = dtype_bytes(plan->settings.dtype);
    rule->states_bytes =
        checked_mul(&checked, weight_bytes(plan, &checked), training ? 2 + states : 1);
    rule->results_bytes =
        checked_mul3(&checked, plan_result_values(plan, &checked), element_bytes, training ? 2 : 1);
    rule->input_bytes = plan->input_bytes;
    rule->total_bytes =
        checked_add(&checked, checked_add(&checked, rule->states_bytes, rule->results_bytes),
                    rule->input_bytes);
    return checked.overflow ? fail_sum(err) : 0;
}

static int run_and_replay(struct estimate *estimate, struct err *err)
{
    struct schedule schedule;
    int result = -1;
    if (training_loop_record(&estimate->plan, &schedule, err))
        return -1;
    if (replay_live(estimate, &schedule, err) || replay_allocator(estimate, &schedule, err))
        goto out;
    estimate->peak.requested_bytes = estimate->peak_moment.total_bytes;
    result = 0;
out:
    schedule_release(&schedule);
    return result;
}

int estimate_make(struct estimate *estimate, const struct model *model,
                  const struct settings *settings, struct err *err)
{
    *estimate = (struct estimate){.model = model};
    if (plan_build(&estimate->plan, model, settings, err))
        return -1;
    if (!sum_parameters(estimate, err) && !sum_values(estimate, err) &&
        !rule_of_thumb(&estimate->plan, settings->training, &estimate->rule, err) &&
        !run_and_replay(estimate, err))
        return 0;
    estimate_release(estimate);
    return -1;
}

uint64_t estimate_kept_bytes(const struct estimate *estimate)
{
    const uint64_t *bytes = estimate->forward_end.category_bytes;
    return bytes[CATEGORY_input] + bytes[CATEGORY_activations];
}

bool estimate_models(const struct estimate *estimate, enum category category)
{
    if (category == CATEGORY_workspace)
        return estimate->plan.settings.workspace_bytes > 0;
    return category != CATEGORY_context && category != CATEGORY_other;
}

/* --- moments --- */

const char *estimate_moment_text(const struct estimate *estimate,
                                 const struct estimate_moment *moment, char text[MOMENT_TEXT_BYTES])
{
    static const char *const fixed[SCHEDULE_PHASES] = {[SCHEDULE_init] = "model loaded",
                                                       [SCHEDULE_data] = "next batch",
                                                       [SCHEDULE_optimizer] = "optimizer step"};
    if (fixed[moment->phase])
        return fixed[moment->phase];
    if (moment->phase == SCHEDULE_forward &&
        moment->total_bytes == estimate->forward_end.total_bytes)
        return "forward end";
    const struct layer *layer = &estimate->model->layers[moment->layer];
    snprintf(text, MOMENT_TEXT_BYTES, "%s of layer %zu (%s)%s%s",
             schedule_phase_name(moment->phase), layer->index, layer->kind->name,
             layer->name[0] ? " " : "", layer->name);
    return text;
}
