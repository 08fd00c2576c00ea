/* SPDX-License-Identifier: MIT */
/*
 * The forward stack of what a backward allocates: that of the first tensor under the same node of
 * autograd. A backward runs on threads without a line of the program; this is the line that it is
 * for. It must not know blocks.
 *
 *     thread 1   node 7, forward    alloc, stack A      7 ─► A
 *     thread 2   node 7, backward   alloc, stack B      its forward stack is A
 *
 * Where a backward itself makes nodes (create_graph), their line is the one that called that backward.
 *
 * A node is a number and the thread of PyTorch that made it. Of the nodes with a forward allocation the
 * last AUTOGRAD_WINDOW are kept: a backward of one that is older has no forward stack.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_AUTOGRAD_H
#define GPUMEMTRACE_ANALYZER_REPLAY_AUTOGRAD_H

#include "analyzer/replay/history/cursor.h"
#include "analyzer/util/pair_map.h"

#define AUTOGRAD_WINDOW ((size_t)1 << 17)

/* A zeroed one is empty and ready for use. */
struct autograd {
    struct pair_map threads; /* number of its state, by thread */
    struct autograd_state *states;
    size_t state_count, state_capacity;
    struct pair_map stacks; /* forward stack, by node */
    struct autograd_node *window;
    size_t window_capacity;
    uint64_t noted_count; /* nodes that have had a place in the window */
};

void autograd_release(struct autograd *autograd);

/* The current event says what its thread works for. */
int autograd_work_for(struct autograd *autograd, const struct cursor *at);
/* The current event takes a tensor, or tries to, for the program's line in that stack. */
int autograd_note_tensor(struct autograd *autograd, const struct cursor *at, uint32_t stack_id);
/* Whether an operator that a backward is to go through takes it. */
bool autograd_records(const struct autograd *autograd, const struct cursor *at);
/* The forward stack of what the current event takes; 0: it is of no backward, or not known. */
uint32_t autograd_forward_stack(const struct autograd *autograd, const struct cursor *at);

#endif
