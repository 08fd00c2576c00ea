/* SPDX-License-Identifier: MIT */
/* Finds the iterations of a training loop; see iterations.h. */
#include "iterations.h"

enum part part_of_path(const struct history *history, uint32_t path)
{
    while (path != HISTORY_NONE && history->paths[path].rule == PATH_RULE_NONE)
        path = history->paths[path].parent;
    if (path == HISTORY_NONE)
        return PART_OTHER;
    switch (category_of_rule(history->paths[path].rule)) {
    case CATEGORY_parameters:
    case CATEGORY_buffers:
        return PART_INIT;
    case CATEGORY_input:
        return PART_DATA;
    case CATEGORY_activations:
        return PART_FORWARD;
    case CATEGORY_gradients:
        return PART_BACKWARD;
    case CATEGORY_optimizer:
        return PART_OPTIMIZER;
    default:
        return PART_OTHER;
    }
}

enum part part_of_block(const struct categories *categories, uint32_t path, uint32_t stack_id)
{
    return categories_is_workspace(categories, stack_id) ? PART_OTHER
                                                         : part_of_path(categories->history, path);
}

bool iterations_allocate(struct iterations *iterations, const struct iteration_birth *birth)
{
    const enum part part = birth->part;
    const bool is_over = !iterations->recorded || iterations->backward != iterations->recorded;
    const bool was_back =
        (iterations->part == PART_BACKWARD && is_over) || iterations->part == PART_OPTIMIZER;
    const bool begins = was_back && (part == PART_DATA || part == PART_FORWARD);
    if (part == PART_OTHER || part == PART_INIT)
        return false;
    iterations->part = part;
    if (birth->backward)
        iterations->backward = birth->backward;
    if (birth->is_recorded)
        iterations->recorded = birth->backward;
    if (begins) {
        iterations->number++;
        iterations->has_optimized = false;
        iterations->has_forward = false;
    }
    iterations->has_forward |= part == PART_FORWARD;
    iterations->has_optimized |= part == PART_OPTIMIZER;
    return begins;
}
