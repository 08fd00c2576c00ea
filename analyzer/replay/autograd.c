/* SPDX-License-Identifier: MIT */
/* Forward stacks of backward allocations; see autograd.h. */
#include "autograd.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

struct autograd_node {
    uint64_t number; /* 0: none */
    uint32_t maker;  /* PyTorch's number of the thread that made the node */
};

/* The autograd node that a thread runs. */
struct autograd_state {
    struct autograd_node node;
    bool is_backward;
};

void autograd_release(struct autograd *autograd)
{
    pair_map_release(&autograd->threads);
    pair_map_release(&autograd->stacks);
    free(autograd->states);
    free(autograd->window);
}

int autograd_work_for(struct autograd *autograd, const struct cursor *at)
{
    const struct event *event = at->event;
    uint32_t number = pair_map_get(&autograd->threads, 0, event->thread_id);
    if (number == PAIR_MAP_NONE) {
        if (ARRAY_GROW(autograd->states, autograd->state_capacity, autograd->state_count, at->err))
            return -1;
        number = (uint32_t)autograd->state_count++;
        if (pair_map_put(&autograd->threads, 0, event->thread_id, number, at->err))
            return -1;
    }
    const bool is_known = event->address <= UINT32_MAX;
    autograd->states[number] = (struct autograd_state){
        {is_known ? event->object : 0, (uint32_t)event->address}, event->size_bytes == 1};
    return 0;
}

static const struct autograd_state *state_of(const struct autograd *autograd,
                                             const struct cursor *at)
{
    const uint32_t number = autograd->state_count
                                ? pair_map_get(&autograd->threads, 0, at->event->thread_id)
                                : PAIR_MAP_NONE;
    return number != PAIR_MAP_NONE && autograd->states[number].node.number
               ? &autograd->states[number]
               : NULL;
}

/* Adds a node to the window. If the window is full, the oldest node is dropped. */
static int add_to_window(struct autograd *autograd, const struct autograd_node *node,
                         struct err *err)
{
    const size_t at = autograd->noted_count % AUTOGRAD_WINDOW;
    if (autograd->noted_count >= AUTOGRAD_WINDOW) {
        const struct autograd_node *oldest = &autograd->window[at];
        pair_map_remove(&autograd->stacks, oldest->maker, oldest->number);
    } else {
        if (ARRAY_GROW(autograd->window, autograd->window_capacity, at, err))
            return -1;
    }
    autograd->window[at] = *node;
    autograd->noted_count++;
    return 0;
}

int autograd_note_forward(struct autograd *autograd, const struct cursor *at, uint32_t stack_id)
{
    const struct autograd_state *state = state_of(autograd, at);
    if (!state || state->is_backward || !stack_id)
        return 0;
    const struct autograd_node *node = &state->node;
    if (pair_map_get(&autograd->stacks, node->maker, node->number) != PAIR_MAP_NONE)
        return 0;
    return add_to_window(autograd, node, at->err) ||
                   pair_map_put(&autograd->stacks, node->maker, node->number, stack_id, at->err)
               ? -1
               : 0;
}

bool autograd_records(const struct autograd *autograd, const struct cursor *at)
{
    const struct autograd_state *state = state_of(autograd, at);
    return state && !state->is_backward;
}

uint32_t autograd_forward_stack(const struct autograd *autograd, const struct cursor *at)
{
    const struct autograd_state *state = state_of(autograd, at);
    if (!state || !state->is_backward)
        return 0;
    const uint32_t stack_id =
        pair_map_get(&autograd->stacks, state->node.maker, state->node.number);
    return stack_id == PAIR_MAP_NONE ? 0 : stack_id;
}
