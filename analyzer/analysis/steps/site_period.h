/* SPDX-License-Identifier: MIT */
/*
 * Finds the rounds of a program that marks no steps, from the order of the call stacks that
 * allocate. The call stacks form a tree. Each line of it is entered when an allocation below it
 * follows one that is not below it. Sizes do not count.
 *
 *     main ─┬─ line 3  load ───────────        1 entry
 *           ├─ line 6  batch ──────────      600 entries  ◄── begins a round
 *           ├─ line 7  model ─┬─ forward     600 entries, 7,200 allocations of 12 layers
 *           └─ line 9  evaluate ───────       60 entries
 *
 * A node of the tree has rounds if at least two of its children are entered equally often, give or
 * take one, and at least ROUNDS_FEWEST times. Among several such numbers, the one of most children
 * counts; among these, the lowest. A child does not count if its last allocation comes soon after
 * its first: a loop that loads weights is over before the loop that uses them. The first of these
 * children begins a round. Two more conditions:
 *
 *   - The order holds: in three of four entries of such a child, give or take one, the same child
 *     comes before it, or the same comes after it.
 *   - At least half of the allocations are below the node. Allocations that only fill memory do not
 *     count for this: those of a constructor (__init__), and those of a stack none of whose blocks
 *     was freed before its last allocation, unless it is in a model's forward. If nothing else is
 *     left, stacks count whose blocks get larger and larger.
 *
 * From the root on, the way leads to the child with most allocations, and the first node that has
 * rounds is taken. There are two exceptions:
 *
 *   - If its rounds call a model, a node further down takes its place if it has more rounds and is
 *     outside the model's function "forward": an epoch is no step. The lines of forward itself are
 *     taken only if no node outside has rounds, or if all children of that node call models. What
 *     forward calls may be one layer after the other.
 *   - In a framework's pool, a round must have three allocations, because two may be one layer.
 *
 * If a model is called from a single line, and its forward repeats a single line, nothing of this
 * tells one call of the model from the next. But a cache that each token copies does: a stack in
 * the model frees blocks only after each stack of the model has allocated LAYER_CALLS_FEWEST times.
 * The first allocation after that begins a round. The same holds for all stacks of a program
 * without a model, such as one that frees its blocks ten at a time.
 */
#pragma once

#include "growth_watch.h"

/* Leaves period->roles NULL if nothing repeats. -1: out of memory. */
int site_period_find(struct step_period *period, const struct account_ends *own,
                     const struct trace *trace, struct err *err);
