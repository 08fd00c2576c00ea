/* SPDX-License-Identifier: MIT */
/*
 * Finds the forward stack of an allocation in a backward. This is the stack of the first tensor
 * that was allocated under the same autograd node, or of the event that reported the node, if its
 * operator allocated nothing. Backward threads have no line of the program in their stacks, so the
 * forward stack shows which line their memory is for.
 *
 *     thread 1   node 7, forward    alloc, stack A      7 ─► A
 *     thread 2   node 7, backward   alloc, stack B      its forward stack is A
 *
 * If a backward makes new nodes (create_graph), the forward stack of these nodes is the stack of
 * the call to backward.
 *
 * A node is identified by its number and the PyTorch thread that made it. The last AUTOGRAD_WINDOW
 * nodes with a forward stack are kept; the backward of an older node has no forward stack.
 */
#pragma once

#include "analyzer/replay/history/cursor.h"
#include "analyzer/util/pair_map.h"

#define AUTOGRAD_WINDOW ((size_t)1 << 17)

/* A zeroed struct is empty and ready for use. */
struct autograd {
    struct pair_map threads; /* index of the thread's state, by thread id */
    struct autograd_state *states;
    size_t state_count, state_capacity;
    struct pair_map stacks; /* forward stack, by node */
    struct autograd_node *window;
    size_t window_capacity;
    uint64_t noted_count; /* nodes ever put into the window */
};

void autograd_release(struct autograd *autograd);

/* Handles the current event, which reports the autograd node that its thread runs from now on. */
int autograd_work_for(struct autograd *autograd, const struct cursor *at);
/* Handles the current event, which allocates a tensor, fails to, or reports a node. stack_id is the
 * stack with the line of the program; 0: none. */
int autograd_note_forward(struct autograd *autograd, const struct cursor *at, uint32_t stack_id);
/* True if the event's thread runs a forward operator that autograd records for backward. */
bool autograd_records(const struct autograd *autograd, const struct cursor *at);
/* Forward stack of the current event's allocation; 0: not in backward, or unknown. */
uint32_t autograd_forward_stack(const struct autograd *autograd, const struct cursor *at);
